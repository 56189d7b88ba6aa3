"use strict";
const form = document.getElementById("filter");
const findings = [...document.querySelectorAll("article")];
const texts = findings.map((it) => it.textContent.toLowerCase());
const shown = document.getElementById("shown");

function filter() {
  const wanted = new FormData(form);
  const severities = wanted.getAll("severity");
  const rule = wanted.get("rule");
  const words = wanted.get("text").toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  findings.forEach((it, index) => {
    const matches = severities.includes(it.dataset.severity) && (!rule || it.dataset.rule === rule)
      && words.every((word) => texts[index].includes(word));
    it.hidden = !matches;
    count += matches;
  });
  shown.textContent = `${count} of ${findings.length} shown`;
}

if (findings.length) {
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const link of document.querySelectorAll("a[data-rule]")) {
    link.addEventListener("click", () => { form.elements.rule.value = link.dataset.rule; filter(); });
  }
  filter();
}
