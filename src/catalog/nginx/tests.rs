use super::*;

fn version(text: &str) -> Version {
    VersionSet::parse(text).unwrap().ranges()[0].start
}

#[test]
fn names_are_sorted_and_found() {
    assert!(directives().is_sorted_by(|a, b| (a.name, a.module.kind) <= (b.name, b.module.kind)));
    for directive in directives() {
        let found = lookup(directive.name.as_bytes());
        assert!(found.iter().all(|d| d.name == directive.name) && found.iter().any(|d| std::ptr::eq(d, directive)));
    }
    assert!(lookup(b"proxy_passs").is_empty() && lookup(b"").is_empty());
}

#[test]
fn a_module_has_a_name_once() {
    for directive in directives() {
        let same = lookup(directive.name.as_bytes()).iter().filter(|d| d.module == directive.module).count();
        assert_eq!(same, 1, "{} of {:?}", directive.name, directive.module);
    }
}

#[test]
fn facts_agree_with_each_other() {
    for directive in directives() {
        let name = directive.name;
        assert!(!directive.contexts.is_empty(), "{name}");
        assert!(!directive.versions.is_empty(), "{name}");
        assert!(directive.arity_before.is_sorted_by_key(|(before, _)| *before), "{name}");
        assert!(directive.params.is_sorted_by_key(|param| param.name), "{name}");
        for context in directive.contexts.iter() {
            assert!(context.holds_directives(), "{name}");
            assert!(
                !directive.allowed_in(context).is_empty() || directive.context_versions.iter().any(|c| c.0 == context)
            );
        }
        if matches!(directive.value, Value::Enum | Value::Bitmask) {
            assert!(!directive.params.is_empty(), "{name} lists its values");
        }
        let entries = matches!(directive.form, Form::Block(inside) if inside.holds_entries());
        assert_eq!(entries, !directive.entries.is_empty(), "{name}");
    }
}

#[test]
fn blocks_open_contexts() {
    use Context::*;
    let cases = [
        (Main, "http", Http),
        (Main, "stream", Stream),
        (Main, "mail", Mail),
        (Main, "events", Events),
        (Main, "rtmp", Rtmp),
        (Http, "server", Server),
        (Stream, "server", StreamServer),
        (Mail, "server", MailServer),
        (Rtmp, "server", RtmpServer),
        (RtmpServer, "application", RtmpApplication),
        (Http, "upstream", Upstream),
        (Stream, "upstream", StreamUpstream),
        (Http, "map", Map),
        (Stream, "map", Map),
        (Http, "geo", Geo),
        (Http, "types", Types),
        (Location, "types", Types),
        (Server, "location", Location),
        (Location, "location", Location),
        (Server, "if", ServerIf),
        (Location, "if", LocationIf),
        (Location, "limit_except", LimitExcept),
        (Http, "location", Location),
        (Main, "server", Server),
        (Main, "geoip2", Unknown),
        (Http, "geoip2", Unknown),
        (Server, "no_such_block", Unknown),
        (Unknown, "location", Unknown),
        (Location, "content_by_lua_block", Unknown),
    ];
    for (outside, name, inside) in cases {
        assert_eq!(outside.inside(name.as_bytes()), inside, "{name} in {outside}");
    }
}

#[test]
fn backports_make_holes() {
    let resolver = lookup_in(b"resolver", Context::Http).next().unwrap();
    let port = resolver.param("<port>").unwrap();
    assert!(port.versions.contains(version("1.2.2")));
    assert!(!port.versions.contains(version("1.3.0")) && port.versions.contains(version("1.3.1")));
}

#[test]
fn defaults_follow_the_version() {
    let value = |name: &str, context, at: &str| default_value(name.as_bytes(), context, version(at));
    assert_eq!(value("proxy_http_version", Context::Location, "1.29.6"), Some("1.0"));
    assert_eq!(value("proxy_http_version", Context::Location, "1.29.7"), Some("1.1"));
    assert_eq!(value("ssl_protocols", Context::Server, "1.18.0"), Some("TLSv1 TLSv1.1 TLSv1.2"));
    assert_eq!(value("ssl_protocols", Context::Server, "1.24.0"), Some("TLSv1 TLSv1.1 TLSv1.2 TLSv1.3"));
    assert_eq!(value("ssl_protocols", Context::Server, "1.28.0"), Some("TLSv1.2 TLSv1.3"));
    assert_eq!(value("keepalive_requests", Context::Upstream, "1.18.0"), Some("100"));
    assert_eq!(value("keepalive_requests", Context::Upstream, "1.22.1"), Some("1000"));
    assert_eq!(value("sendfile", Context::Http, "1.22.1"), Some("off"));
}

#[test]
fn keepalive_rows_cover_every_release_since_1_1_4() {
    for &release in Server::Nginx.releases() {
        let rows = Keepalive::all().iter().filter(|row| row.versions.contains(release)).count();
        assert_eq!(rows, usize::from(release >= version("1.1.4")), "{release}");
        if let Some(row) = keepalive(release) {
            let written = default_value(b"proxy_http_version", Context::Location, release);
            assert_eq!(written, Some(row.http_version), "{release}");
        }
    }
    assert_eq!(keepalive(version("1.29.7")).unwrap().implicit, Some("32 local"));
    assert_eq!(keepalive(version("1.22.1")).unwrap().connection, Some("close"));
}

#[test]
fn arities_follow_the_version() {
    let keepalive = &lookup(b"keepalive")[0];
    assert_eq!(keepalive.accepting(2), VersionSet::parse("<1.7.5 || >=1.29.7").unwrap());
    assert_eq!(keepalive.accepting(3), VersionSet::none());
    assert!(keepalive.arity_at(version("1.22.1")).accepts(1) && !keepalive.arity_at(version("1.22.1")).accepts(2));
}

#[test]
fn a_line_is_for_the_versions_that_accept_it() {
    use Context::*;
    let cases: &[(Context, &str, &str)] = &[
        (Server, "http2 on", ">=1.25.1"),
        (Server, "ssl on", "<1.25.1"),
        (Server, "listen 443 quic reuseport", ">=1.25.0"),
        (Server, "listen 443 ssl http2", ">=1.9.5"),
        (Upstream, "keepalive 0", ">=1.29.7"),
        (Upstream, "keepalive 16 local", ">=1.29.7"),
        (Upstream, "keepalive 16", ">=1.1.4"),
        (Location, "proxy_http_version 2", ">=1.29.4"),
        (Location, "proxy_http_version 1.1", ">=1.1.4"),
        (Upstream, "server app.internal:80 resolve", ">=1.27.3"),
        (Server, "ssl_protocols TLSv1.2 TLSv1.3", ">=1.13.0"),
        (Location, "add_header X y always", ">=1.7.5"),
    ];
    for (context, line, versions) in cases {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let accepted = accepted_by(Usage { context: *context, name: words[0], args: &words[1..] });
        assert_eq!(accepted, VersionSet::parse(versions).unwrap(), "{line}");
    }
    let all: &[(Context, &str)] = &[
        (Location, "no_such_directive on"),
        (Location, "more_set_headers x"),
        (Http, "http2_no on"),
        (Http, "listen 80 quic"),
        (Map, "http2 on"),
        (Unknown, "http2 on"),
        (Upstream, "server resolve"),
        (Location, "proxy_pass http://a"),
    ];
    let floor = crate::version::Server::Nginx.assumed_floor();
    for (context, line) in all {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let accepted = accepted_by(Usage { context: *context, name: words[0], args: &words[1..] });
        let assumed = VersionSet::since(floor);
        assert_eq!(assumed.holds(crate::version::Server::Nginx, &accepted), crate::version::Holds::Always, "{line}");
    }
}

#[test]
fn variables_are_found_by_name_and_family() {
    let http = |name: &str| variable(name.as_bytes(), Area::Http).map(|v| (v.name, v.family));
    assert_eq!(http("host"), Some(("host", false)));
    assert_eq!(http("arg_id"), Some(("arg_", true)));
    assert_eq!(http("http_x_request_id"), Some(("http_", true)));
    assert_eq!(http("upstream_http_etag"), Some(("upstream_http_", true)));
    assert_eq!(http("http"), None);
    assert_eq!(http("no_such_variable"), None);
    assert!(variable(b"ssl_preread_server_name", Area::Stream).is_some());
    assert!(variable(b"ssl_preread_server_name", Area::Http).is_none());
    assert!(variables().is_sorted_by_key(|v| v.name));
}

#[test]
fn ids_of_contexts_are_unique() {
    for (i, &context) in Context::ALL.iter().enumerate() {
        assert_eq!(Context::parse(context.id()), Some(context));
        assert_eq!(context as usize, i);
    }
    assert!(Context::ALL.len() <= 64);
}

#[test]
fn most_directives_are_the_same_since_the_floor() {
    let floor = crate::version::Server::Nginx.assumed_floor();
    for name in ["http2", "listen", "keepalive", "ssl", "server", "proxy_http_version", "max_headers"] {
        assert!(depends_on_version(lookup(name.as_bytes()), floor), "{name}");
    }
    for name in ["proxy_pass", "location", "ssl_protocols", "add_header", "no_such_directive", "more_set_headers"] {
        assert!(!depends_on_version(lookup(name.as_bytes()), floor), "{name}");
    }
}

#[test]
fn an_editor_can_ask_what_may_stand_here_and_what_it_is() {
    let target = |text: &str| VersionSet::parse(text).unwrap();
    let names = |context, versions: &str| -> Vec<&str> {
        directives_in(context, &target(versions)).map(|directive| directive.name).collect()
    };
    let old = names(Context::Server, "1.24");
    let new = names(Context::Server, "1.28");
    assert!(old.is_sorted() && old.contains(&"ssl") && !old.contains(&"http2"), "{old:?}");
    assert!(!new.contains(&"ssl") && new.contains(&"http2") && new.contains(&"listen") && !new.contains(&"events"));
    assert!(names(Context::Upstream, "1.28").contains(&"least_conn"));
    let variables = |versions: &str| variables_in(Area::Http, &target(versions)).any(|v| v.name == "request_port");
    assert!(!variables("1.28") && variables("1.30"));

    let listen = lookup_in(b"listen", Context::Server).next().unwrap();
    assert_eq!(listen.documentation().unwrap(), "https://nginx.org/en/docs/http/ngx_http_core_module.html#listen");
    assert!(listen.param("quic").is_some_and(|param| !param.versions.contains(Version::new(1, 24, 0))));
    let http2 = lookup_in(b"http2", Context::Http).next().unwrap();
    assert_eq!(
        (http2.arity, http2.value, http2.default_at(Version::new(1, 28, 0))),
        (Arity::Flag, Value::Flag, Some("off"))
    );
    let old_name = lookup_in(b"proxy_downstream_buffer", Context::Stream).next().unwrap();
    assert_eq!(old_name.instead, Some("proxy_buffer_size"));
}
