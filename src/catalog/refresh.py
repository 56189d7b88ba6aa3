#!/usr/bin/env python3
"""Writes the catalogue's data files from the fact tables in ../shared/data (or a folder given as argument).

    python3 src/catalog/refresh.py [DATA_FOLDER]

The result is sorted and stable, so that a new server release shows as a small diff to review. What the
columns mean stands at the head of each file; `build/catalog.rs` compiles them.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[2] / "shared" / "data"

CONTEXTS = {
    "http.server": "server", "http.location": "location", "http.if": "server-if", "http.lif": "location-if",
    "http.limit_except": "limit_except", "http.upstream": "upstream", "http.oidc_provider": "oidc_provider",
    "http.acme_issuer": "acme_issuer", "http.otel_exporter": "otel_exporter", "proc": "processes",
}

# Official modules that are not part of every build: the configure option, and whether the packages of
# nginx.org have it (from the `configure arguments` of those packages).
OPTIONAL = {
    "ngx_google_perftools_module": ("--with-google_perftools_module", False),
    "ngx_http_addition_module": ("--with-http_addition_module", True),
    "ngx_http_auth_request_module": ("--with-http_auth_request_module", True),
    "ngx_http_dav_module": ("--with-http_dav_module", True),
    "ngx_http_degradation_module": ("--with-http_degradation_module", False),
    "ngx_http_flv_module": ("--with-http_flv_module", True),
    "ngx_http_geoip_module": ("--with-http_geoip_module", False),
    "ngx_http_gunzip_module": ("--with-http_gunzip_module", True),
    "ngx_http_gzip_static_module": ("--with-http_gzip_static_module", True),
    "ngx_http_image_filter_module": ("--with-http_image_filter_module", False),
    "ngx_http_mp4_module": ("--with-http_mp4_module", True),
    "ngx_http_perl_module": ("--with-http_perl_module", False),
    "ngx_http_random_index_module": ("--with-http_random_index_module", True),
    "ngx_http_realip_module": ("--with-http_realip_module", True),
    "ngx_http_secure_link_module": ("--with-http_secure_link_module", True),
    "ngx_http_slice_module": ("--with-http_slice_module", True),
    "ngx_http_ssl_module": ("--with-http_ssl_module", True),
    "ngx_http_stub_status_module": ("--with-http_stub_status_module", True),
    "ngx_http_sub_module": ("--with-http_sub_module", True),
    "ngx_http_v2_module": ("--with-http_v2_module", True),
    "ngx_http_v3_module": ("--with-http_v3_module", True),
    "ngx_http_xslt_module": ("--with-http_xslt_module", False),
    "ngx_mail_ssl_module": ("--with-mail_ssl_module", True),
    "ngx_stream_geoip_module": ("--with-stream_geoip_module", False),
    "ngx_stream_realip_module": ("--with-stream_realip_module", True),
    "ngx_stream_ssl_module": ("--with-stream_ssl_module", True),
    "ngx_stream_ssl_preread_module": ("--with-stream_ssl_preread_module", True),
}

# Blocks of third-party modules whose inside is plain directives of a known context.
THIRD_PARTY_BLOCKS = {
    ("rtmp", "main"): "rtmp", ("server", "rtmp"): "rtmp.server", ("application", "rtmp.server"): "rtmp.application",
    ("recorder", "rtmp.application"): "rtmp.recorder", ("process", "processes"): "processes",
}

# Features that the tables lack: seen on the servers.
EXTRA_PARAMS = {
    ("ngx_http_upstream_module", "keepalive"): {"<zero>": "1.29.7"},
}

# Directives that a distribution's package has earlier than nginx itself.
BACKPORTS = json.loads((DATA / "nginx" / "distros.json").read_text())["directive_backports"]

# Sizes read by ngx_conf_set_off_slot, which takes gigabytes as well.
LARGE_SIZES = {
    "client_max_body_size", "directio_alignment", "worker_rlimit_core", "proxy_cache_max_range_offset",
    "fastcgi_cache_max_range_offset", "scgi_cache_max_range_offset", "uwsgi_cache_max_range_offset",
}

# What a second line does where the table does not say: seen on 1.22.1.
REPEATS = {("ngx_http_ssl_module", "ssl"): "error", ("ngx_mail_ssl_module", "ssl"): "error"}

# Blocks whose entries take more or fewer values than the table says: seen on 1.22.1 and 1.31.3.
LENIENT_ENTRIES = {"types": "any", "split_clients": "1+"}

# Keywords that the table still has: refused by 1.22.1 and 1.31.3.
GONE_PARAMS = {("ngx_http_ssl_module", "ssl_verify_client", "ask"): "0.7.63"}

# Variables that `set` may change though the table says no: seen on 1.22.1 and 1.31.3.
SETTABLE = {"$invalid_referer", "$uid_reset"}


def number(version):
    return tuple(int(n) for n in version.split("."))


def versions(since=None, removed=None, backported=()):
    """`A..B` is from A on and before B; several are joined by commas; `` is every version."""
    def open_from(start):
        return f"{start or ''}..{removed or ''}"
    if since is None and removed is None:
        return ""
    parts = []
    for back in sorted(backported or (), key=number):
        major, minor, _ = back.split(".")
        if since and number(f"{major}.{minor}.0")[:2] == number(since)[:2]:
            continue
        parts.append(f"{back}..{major}.{int(minor) + 1}.0")
    return ",".join(parts + [open_from(since)])


def context(name):
    return CONTEXTS.get(name, name)


def arity(value):
    if isinstance(value, list):
        return ",".join(str(n) for n in value)
    return {"1more": "1+", "2more": "2+"}.get(value, value)


def contexts_of(d):
    words = []
    for name in d["contexts"] + [c for c in d.get("context_removed", {}) if c not in d["contexts"]]:
        since, removed = d["context_since"].get(name), d.get("context_removed", {}).get(name)
        span = versions(since, removed)
        words.append(context(name) + (f"@{span}" if span else ""))
    return " ".join(words)


def args_of(d):
    older = [f"{arity(a['args'])}<{a['before']}" for a in d.get("args_before", [])]
    return " ".join([arity(d["args"])] + older)


def body_of(d):
    if not d["block"]:
        return ";"
    content = d.get("content")
    if content and content["type"] == "raw":
        return "{raw}"
    if content and content["type"] == "directives":
        return "{" + context(content["context"]) + "}"
    if content and content["type"] == "entries":
        kind = {"num_map": "map"}.get(d["name"], d["name"])
        return "{stream.match}" if kind == "match" and d["contexts"] == ["stream"] else "{" + kind + "}"
    where = context(d["contexts"][0])
    inside = THIRD_PARTY_BLOCKS.get((d["name"], where))
    if inside is None and d["kind"] == "third-party":
        return "{unknown}"
    if inside is None and d["name"] == "if":
        return "{if}"
    inside = inside or {"imap": "mail"}.get(d["name"], d["name"])
    return "{" + (f"{where}.{inside}" if where in ("stream", "mail") else inside) + "}"


def entries_of(d):
    content = d.get("content") or {}
    if content.get("type") != "entries":
        return ""
    known = [f"{name}:{arity(count)}" for name, count in content["keywords"].items() if name != "*"]
    entry = LENIENT_ENTRIES.get(d["name"]) or ("entry_args" in content and arity(content["entry_args"]))
    return " ".join(known + ([f"*:{entry}"] if entry else []))


def params_of(d):
    d["param_since"].update(EXTRA_PARAMS.get((d["module"], d["name"]), {}))
    names = set(d.get("params", [])) | set(d["param_since"]) | set(d["param_removed"]) | set(d["param_deprecated"])
    words = []
    for name in sorted(names | set(d.get("param_commercial", {}))):
        commercial = name in d.get("param_commercial", {}) and name not in names
        since = d["param_since"].get(name)
        if commercial:
            since = d["param_commercial"][name]
        word = name
        removed = d["param_removed"].get(name) or GONE_PARAMS.get((d["module"], d["name"], name))
        span = versions(since, removed, d.get("param_backported", {}).get(name))
        word += f"@{span}" if span else ""
        old = d["param_deprecated"].get(name, "")
        word += f"!{old}" if old[:1].isdigit() else ""  # not a version of a separate module
        word += f">{d['param_replaced_by'][name]}" if name in d.get("param_replaced_by", {}) else ""
        word += "%plus" if commercial else ""
        word += f"%{d['param_platform'][name]}" if name in d.get("param_platform", {}) else ""
        words.append(word)
    return " ".join(words)


def value_of(d):
    kind = d.get("handler_type") or ""
    kind = "" if kind == "flag" and d["args"] == "flag" else kind
    kind = "large_size" if kind == "size" and d["name"] in LARGE_SIZES else kind
    return kind + {True: "$", False: "!", None: ""}[d.get("variables")]


def directive_line(d):
    fields = {
        "versions": versions(d["since"], d["removed"], d.get("backported")),
        "deprecated": d["deprecated"],
        "warns": "no" if d.get("warns") is False else None,
        "instead": d["replaced_by"],
        "merge": d["merge"],
        "merge-with": " ".join(d.get("merge_with", [])),
        "repeat": REPEATS.get((d["module"], d["name"])) or d.get("repeat") or {True: "accumulate", False: "error", None: None}[d["repeatable"]],
        # What became without effect was a setting like others before.
        "repeat-since": d.get("repeatable_since") or (
            d["deprecated"] if d.get("repeat") == "ignored" and d["merge"] != "array" else None),
        "value": value_of(d),
        "default": d["default"],
        "params": params_of(d),
        "entries": entries_of(d),
        "platform": d.get("platform"),
        "plus-since": d.get("plus_since"),
        "backport": " ".join(f"{b['distro']}:{b['since']}" for b in BACKPORTS if b["directive"] == d["name"]),
        "prefixes": " ".join(d.get("name_prefixes", [])),
        "documented": "no" if d.get("documented") is False else None,
    }
    cells = [d["name"], contexts_of(d), args_of(d), body_of(d)]
    return "\t".join(cells + [f"{key}={value}" for key, value in fields.items() if value not in (None, "")])


def section(kind, module, project="", vendor=""):
    words = [kind, module]
    if project:
        words.append("project=" + project.replace(" ", "+"))
    if vendor:
        words.append("vendor=" + vendor)
    if kind == "official" and not project:
        option, stock = OPTIONAL.get(module, (None, True))
        if option is None and module.startswith(("ngx_mail_", "ngx_stream_")):
            option = "--with-mail" if module.startswith("ngx_mail_") else "--with-stream"
        words += ["build=" + option] if option else []
        words += [] if stock else ["stock=no"]
    return "[" + " ".join(words) + "]"


def write(name, head, lines):
    path = HERE / "nginx" / name
    text = "".join(f"# {line}\n" for line in head) + "\n" + "\n".join(lines) + "\n"
    path.write_text(text, encoding="ascii")


def grouped(records, title, line):
    groups = {}
    for record in records:
        groups.setdefault(title(record), []).append(line(record))
    for head in sorted(groups, key=lambda h: (h.split(" ")[0] not in "[official", h)):
        yield head
        yield from sorted(groups[head])
        yield ""


def directives():
    records = json.loads((DATA / "nginx" / "directives.json").read_text())

    def title(d):
        return section(d["kind"], d["module"], d.get("project") or d.get("distribution") or "", d.get("vendor") or "")

    head = [
        "What nginx knows of each directive. Written by ../refresh.py; edit the facts there.",
        "[kind module project= vendor= build=CONFIGURE-OPTION stock=no]: the module of the lines below. Then, by tabs:",
        "name, contexts, number of arguments (`2,3`, `1+`, `flag`, `any`; `1<1.29.7` before a version), `;` or `{context}`,",
        "and KEY=VALUE. Versions: `A..B` is from A on and before B, joined by commas; without them, always.",
        "params: NAME@VERSIONS!DEPRECATED>INSTEAD%PLATFORM; `name=` takes a value; `<...>` is a feature of the value.",
        "value: the kind of value, `$` when it may hold variables, `!` when it may not.",
        "entries: what stands in its block besides `*`, an entry with any name, each with its number of arguments.",
    ]
    write("directives.txt", head, grouped(records, title, directive_line))


def variables():
    records = json.loads((DATA / "nginx" / "variables.json").read_text())

    def line(v):
        name = v["name"].lstrip("$") + ("*" if v["prefix"] else "")
        settable = v["settable"] or v["name"] in SETTABLE
        fields = {
            "versions": versions(v["since"], v["removed"], v.get("backported")),
            "settable": "yes" if settable else None,
        }
        return "\t".join([name] + [f"{key}={value}" for key, value in fields.items() if value])

    def title(v):
        project = v.get("distribution") or ""
        return section(v["kind"], v["module"], project).replace("]", f" area={v['area']}]")

    head = [
        "Variables that modules provide. Written by ../refresh.py. Sections and versions as in directives.txt;",
        "`name_*` is a family of names. By tabs: name, KEY=VALUE.",
    ]
    write("variables.txt", head, grouped(records, title, line))


def changes():
    records = json.loads((DATA / "nginx" / "defaults-by-version.json").read_text())

    def line(c):
        span = versions(c["version"], None, c.get("backported"))
        cells = [c["directive"], c["module"], c["kind"], span, c["from"], c["to"]]
        extra = [f"{key}={c[key]}" for key in ("param", "platform") if c.get(key)]
        return "\t".join(cells + extra)

    head = [
        "Defaults and behaviour that changed. Written by ../refresh.py. By tabs: directive, module, kind of change,",
        "versions with the new value, old value, new value, KEY=VALUE.",
    ]
    write("changes.txt", head, [line(c) for c in records])


def keepalive():
    table = json.loads((DATA / "nginx" / "behaviour-by-version.json").read_text())["table"]

    def line(row, following):
        first = row["versions"].split("-")[0]
        end = following["versions"].split("-")[0] if following else ""
        cells = [f"{first}..{end}", row["http_version_default"], row["connection_default"], row["implicit_keepalive"],
                 row["keepalive_args"], row["order"], row["keepalive_requests"], row["keepalive_timeout"],
                 row["keepalive_time"]]
        return "\t".join("-" if cell is None else str(cell) for cell in cells)

    head = [
        "How connections to the backend are kept, by version. Written by ../refresh.py. By tabs: versions, default",
        "proxy_http_version, default Connection header, keepalive of an upstream that states none, arguments that",
        "`keepalive` takes, its place, keepalive_requests, keepalive_timeout, keepalive_time; `-` is none.",
    ]
    write("keepalive.txt", head, [line(a, b) for a, b in zip(table, table[1:] + [None])])


if __name__ == "__main__":
    directives()
    variables()
    changes()
    keepalive()
