use super::*;

fn stopped(words: &str, read: bool) -> Verdict {
    Verdict::Stopped { words: words.to_owned(), read }
}

#[test]
fn damage_is_told_from_trouble_that_was_there_before() {
    let cert = || stopped("cannot load certificate \"/x.pem\" in /a:7", false);
    let port = || stopped("bind() to 0.0.0.0:80 failed (13: Permission denied)", true);
    let cases = [
        (Verdict::Accepted, Verdict::Accepted, Answer::Verified),
        (cert(), Verdict::Accepted, Answer::Verified),
        (Verdict::Accepted, cert(), Answer::Damaged("cannot load certificate \"/x.pem\" in /a:7".to_owned())),
        (
            cert(),
            stopped("cannot load certificate \"/x.pem\" in /a:9", false),
            Answer::Unverified("cannot load certificate \"/x.pem\" in /a:9".to_owned()),
        ),
        (port(), port(), Answer::VerifiedBut("bind() to 0.0.0.0:80 failed (13: Permission denied)".to_owned())),
        (
            port(),
            stopped("unknown directive \"x\" in /a:1", false),
            Answer::Damaged("unknown directive \"x\" in /a:1".to_owned()),
        ),
        (port(), stopped("mkdir() \"/c\" failed", true), Answer::Damaged("mkdir() \"/c\" failed".to_owned())),
    ];
    for (before, after, answer) in cases {
        assert_eq!(before.clone().then(after.clone()), answer, "{before:?} then {after:?}");
    }
}

#[test]
fn the_servers_words_name_real_paths() {
    let of = |output: &str| match Verdict::of(false, output, Path::new("/tmp/proxylint-x")) {
        Verdict::Stopped { words, read } => (words, read),
        Verdict::Accepted => panic!(),
    };
    let log = "2026/12/01 01:32:55 [emerg] 24779#24779: unknown directive \"x\" in /tmp/proxylint-x/root/etc/nginx/a:14\n\
               nginx: configuration file /tmp/proxylint-x/root/etc/nginx/nginx.conf test failed\n";
    assert_eq!(of(log), ("unknown directive \"x\" in /etc/nginx/a:14".to_owned(), false));
    let twice = "nginx: the configuration file /x syntax is ok\nnginx: [emerg] bind() to [::]:80 failed (13: Permission denied)\n";
    assert_eq!(of(twice), ("bind() to [::]:80 failed (13: Permission denied)".to_owned(), true));
    let caddy = "2026/12/01 INFO using config\nError: adapting config using caddyfile: /tmp/proxylint-x/root/srv/Caddyfile:3: unrecognized directive: x\n";
    assert_eq!(of(caddy).0, "Error: adapting config using caddyfile: /srv/Caddyfile:3: unrecognized directive: x");
    assert_eq!(of("").0, "it says nothing");
}
