/* The three lanes: rows come in at the top, their number stays. Text only, never markup. */
(function () {
  "use strict";
  const root = document.querySelector("[data-lanes]");
  if (!root) return;
  const icons = root.dataset.icons, SVG = "http://www.w3.org/2000/svg", GLYPHS = { held: "pause", drained: "drain", "": "pass" };
  const lists = {}, waiting = {};
  for (const list of root.querySelectorAll("[data-lane]")) lists[list.dataset.lane] = list;

  function element(name, style, text) {
    const made = document.createElement(name);
    if (style) made.className = style;
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function glyph(name) {
    const svg = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
    svg.setAttribute("class", "i");
    svg.setAttribute("aria-hidden", "true");
    use.setAttribute("href", icons + "#i-" + name);
    svg.append(use);
    return svg;
  }
  function row(data) {
    const made = element("li", { held: "h", drained: "d" }[data.state] || "");
    const key = data.path ? element("a", "", data.key) : element("span", "mut", "no key");
    if (data.path) { key.href = data.path; key.title = data.key; }
    made.append(glyph(GLYPHS[data.state] || "pass"), key, element("span", "ty", data.label), element("span", "co", data.at));
    return made;
  }
  function flush() {
    for (const [lane, { rows, first }] of Object.entries(waiting)) {
      const list = lists[lane];
      if (!list || !rows.length || list.matches(":hover, :focus-within")) continue; // nothing moves under a pointer
      const count = list.children.length;
      if (first) list.replaceChildren(...Array.from({ length: count }, () => element("li", "blank")));
      list.prepend(...rows.slice(-count).reverse().map(row));
      delete waiting[lane];
      while (list.children.length > count) list.lastElementChild.remove();
    }
  }
  function put(attribute, name, text) {
    const place = root.querySelector("[" + attribute + "=" + name + "]");
    if (place && place.textContent !== text) place.textContent = text;
  }
  function rate(value) { return (value > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value).toLocaleString("en")) + "/s"; }
  function size(n) { for (const unit of ["B", "KiB", "MiB"]) { if (n < 1024) return (unit === "B" ? n : n.toFixed(1)) + " " + unit; n /= 1024; } return n.toFixed(1) + " GiB"; }
  let sampled = {};

  document.body.addEventListener("stream-tail", (event) => {
    const news = JSON.parse(event.detail);
    const due = news.first ? { rows: [], first: true } : waiting[news.lane] || { rows: [], first: false };
    due.rows.push(...news.rows);
    due.rows.splice(0, Math.max(0, due.rows.length - 50));
    waiting[news.lane] = due;
    if (!document.hidden) flush();
  });
  document.body.addEventListener("stream-sampled", (event) => {
    const { lane, arrived, shown } = JSON.parse(event.detail);
    sampled[lane] = Date.now();
    put("data-lane-note", lane, "shown: 1 in " + Math.max(2, Math.round(arrived / Math.max(1, shown))).toLocaleString("en"));
  });
  document.body.addEventListener("stream-rates", (event) => {
    const now = JSON.parse(event.detail);
    put("data-lane-rate", "events", rate(now.in));
    put("data-lane-rate", "processed", rate(now.out));
    put("data-lane-rate", "held", now.held_events.toLocaleString("en"));
    put("data-lane-note", "held", size(now.held_bytes) + ", " + now.held_keys.toLocaleString("en") + (now.held_keys === 1 ? " key" : " keys"));
    put("data-lane-flow", "held", rate(now.held));
    put("data-lane-flow", "drained", rate(now.drained));
    for (const lane of ["events", "processed"]) if (!(Date.now() - sampled[lane] < 3000)) put("data-lane-note", lane, "all shown");
    flush();
  });
  root.addEventListener("pointerleave", flush);
})();
