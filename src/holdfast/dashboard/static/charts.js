/* Charts with axes, drawn by uPlot; colours come from the style sheet, so both themes work. */
(function () {
  "use strict";
  const places = [...document.querySelectorAll("[data-chart]")], HEIGHT = 190;
  const PX = /^#|^rgb|^oklch|^color/;
  function colour(name) {
    const probe = document.createElement("i");
    probe.className = "probe " + name;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return PX.test(found) ? found : "#888";
  }
  function options(width) {
    const ink = colour("p-ink"), line = colour("p-line"), data = colour("p-data"), ok = colour("p-ok"), held = colour("p-held");
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "11px " + getComputedStyle(document.body).fontFamily };
    const clock = (chart, times) => times.map((at) => new Date(at * 1e3).toISOString().slice(11, 19));
    return {
      width, height: HEIGHT, cursor: { y: false },
      scales: { lag: {}, y: {} },
      axes: [{ ...axis, values: clock, space: 90 }, { ...axis, size: 44 }, { ...axis, scale: "lag", side: 1, size: 56, grid: { show: false } }],
      series: [
        { label: "UTC", value: (chart, at) => (at === null ? "–" : clock(chart, [at])[0]) },
        { label: "in /s", stroke: data, width: 1.5, points: { show: false }, value },
        { label: "out /s", stroke: ok, width: 1.5, points: { show: false }, value },
        { label: "lag", scale: "lag", stroke: held, width: 1.5, dash: [4, 3], points: { show: false }, value },
      ],
      hooks: { setCursor: [now] },
    };
  }
  function value(chart, n) { return n == null ? "–" : n > 0 && n < 9.95 ? n.toFixed(1) : Math.round(n).toLocaleString("en"); }
  /* Where nobody points, the legend says how it is now. */
  function now(chart) {
    const last = chart.data[0].length - 1;
    if (last >= 0 && chart.cursor.left < 0) chart.setLegend({ idx: last });
  }
  const charts = new Map();
  async function refresh(place) {
    let series;
    try {
      const answer = await fetch(place.dataset.chart, { headers: { Accept: "application/json" } });
      if (!answer.ok) return;
      series = await answer.json();
    } catch (error) { return; } // the sign at the top says that we reconnect
    const rows = [series.at, series.in, series.out, series.lag];
    const chart = charts.get(place);
    if (chart) chart.setData(rows);
    else charts.set(place, new uPlot(options(place.clientWidth), rows, place));
    now(charts.get(place));
  }
  function again() {
    for (const [place, chart] of charts) { chart.destroy(); charts.delete(place); refresh(place); }
  }
  places.forEach(refresh);
  document.body.addEventListener("live-rates", () => places.forEach(refresh));
  new MutationObserver(again).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  window.addEventListener("resize", () => { for (const [place, chart] of charts) chart.setSize({ width: place.clientWidth, height: HEIGHT }); });
})();
