"use strict";
{
  const form = document.getElementById("filter");
  const output = document.getElementById("shown");
  const visible = (key) => [...document.querySelectorAll("article")].filter((it) => !it.hidden).map((it) => it.dataset[key]);
  const input = () => form.dispatchEvent(new Event("input", { bubbles: true }));
  const seen = { dark: matchMedia("(prefers-color-scheme: dark)").matches };

  seen.scripts = document.scripts.length;
  seen.images = document.images.length;
  seen.loads = performance.getEntriesByType("resource").map((it) => it.name);
  seen.headings = [...document.querySelectorAll("h1, h2, h3, h4")].map((it) => it.tagName);
  seen.overflow = document.documentElement.scrollWidth > innerWidth;
  seen.unlabelled = [...form.querySelectorAll("input, select")].filter((it) => !it.labels.length).map((it) => it.name);

  document.querySelectorAll("details").forEach((it) => { it.open = true; });
  // Whatever does something takes the focus; so does code that scrolls.
  const wanted = document.querySelectorAll("a[href], input, select, button, summary, pre");
  seen.unreachable = [...wanted].filter((it) => { it.focus(); return document.activeElement !== it; }).map((it) => it.outerHTML);

  const luminance = ([r, g, b]) => {
    const part = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const colour = (text) => text.match(/[\d.]+/g).map(Number);
  const background = (it) => {
    for (; it; it = it.parentElement) {
      const found = colour(getComputedStyle(it).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const hasText = (it) => [...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  seen.faint = [...document.body.querySelectorAll("*")].filter((it) => !["SCRIPT", "OPTION"].includes(it.tagName) && hasText(it)).filter((it) => {
    const [a, b] = [luminance(colour(getComputedStyle(it).color)), luminance(background(it))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
  }).map((it) => `${it.className} ${it.textContent.slice(0, 40)}`);

  seen.all = output.textContent;
  const warning = form.querySelector("[value=warning]");
  if (warning) {
    warning.click();
    seen.errors = visible("severity");
    warning.click();
    document.querySelector("a[data-rule='nginx/syntax']").click();
    seen.rule = visible("rule");
    form.elements.rule.value = "";
    form.elements.text.value = "Missing.conf refuses";
    input();
    seen.text = visible("rule");
    form.querySelector("button").click();
  }
  setTimeout(() => {
    seen.reset = output.textContent;
    document.body.dataset.seen = JSON.stringify(seen);
  }, 100);
}
