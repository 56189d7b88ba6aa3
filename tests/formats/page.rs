//! The page of `--format html` in a browser: Debian's `chromium`, or what `CHROMIUM` names.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{project, report, run::Folder};

/// Works the page as a reader would, and puts what came of it into an attribute.
const DRIVER: &str = include_str!("page.js");

fn browser() -> Option<String> {
    let named = std::env::var("CHROMIUM").ok();
    let found = named.into_iter().chain(["chromium".to_owned(), "chromium-browser".to_owned()]);
    let found = found.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        eprintln!("NOT CHECKED: there is no chromium here to look at the HTML report (apt-get install chromium)");
    }
    found
}

/// What the driver saw on a page.
fn seen(browser: &str, folder: &Path, page: &str, scheme: &str) -> Value {
    let page = page.replace("</body>", &format!("<script>{DRIVER}</script></body>"));
    let file = folder.join("page.html");
    std::fs::write(&file, page).unwrap();
    let output = Command::new("timeout")
        .args(["60", browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg("--dump-dom")
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let result = dom.split("data-seen=\"").nth(1).and_then(|rest| rest.split('"').next());
    let result = result.unwrap_or_else(|| panic!("the driver did not run: {dom}"));
    serde_json::from_str(&result.replace("&quot;", "\"").replace("&lt;", "<").replace("&amp;", "&")).unwrap()
}

#[test]
fn filters_and_keyboard_work_and_colours_can_be_told_apart() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new(&[]);
    for (scheme, dark) in [("1", false), ("0", true)] {
        let seen = seen(&browser, folder.path(), &report(&project(), "html"), scheme);
        assert_eq!(seen["dark"], dark);
        assert_eq!(seen["all"], "3 of 3 shown");
        assert_eq!(seen["errors"], serde_json::json!(["error", "error"]), "without warnings");
        assert_eq!(seen["rule"], serde_json::json!(["nginx/syntax"]));
        assert_eq!(seen["text"], serde_json::json!(["nginx/include-not-found"]));
        assert_eq!(seen["reset"], "3 of 3 shown");
        assert_eq!(seen["unlabelled"], serde_json::json!([]));
        assert_eq!(seen["unreachable"], serde_json::json!([]), "by keyboard");
        assert_eq!(seen["faint"], serde_json::json!([]), "contrast below 4.5 to 1");
        assert_eq!(seen["headings"], serde_json::json!(["H1", "H2", "H2", "H2", "H3", "H3", "H3"]));
        assert_eq!(seen["overflow"], false, "no scrolling to the side");
    }
}

#[test]
fn nothing_in_a_configuration_becomes_an_element() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new(&[]);
    let seen = seen(&browser, folder.path(), &crate::hostile::report("html"), "1");
    // Ours, and the driver's.
    assert_eq!((&seen["scripts"], &seen["images"]), (&2.into(), &0.into()));
    assert_eq!(seen["loads"], serde_json::json!([]));
}
