/* What keeps a page alive: its stream of server-sent events, and the sign that it is connected.

   <body data-stream="/…/live"> names the stream. It says which kinds of things have changed, and
   data-events which parts of this page show them; each becomes an event on <body> that parts are
   fetched again by (hx-trigger="live-keys from:body"): at most one of a kind in 500 ms, the last
   one never lost, and none while the tab is hidden. A connection that is lost is shown, and tried
   again until it is there; then everything is fetched again. */
(function () {
  "use strict";
  const PACE_MS = 500, SLOWER_MS = { summary: 3000, state: 1000 }, RETRY_MS = [500, 1000, 2000, 4000], STILL_MS = 5000, SILENCE_MS = 20000, HIDDEN_MS = 15000;
  const body = document.body, sign = document.getElementById("live");
  const text = sign && sign.querySelector("[data-live-text]");
  const url = body.dataset.stream;
  const due = new Map();
  const shows = JSON.parse(body.dataset.events || "{}");
  let source = null, tries = 0, heard = Date.now(), lost = false, retry = 0, sleeping = 0, asOf = null;

  function clock(at) { return new Date(at).toISOString().slice(11, 19); }

  /* Nothing that is due has come, or what comes is old: then nothing here may look alive. */
  function still() { return !lost && (Date.now() - heard > STILL_MS || (asOf && asOf.age > STILL_MS)); }

  function show() {
    body.classList.toggle("still", lost || still());
    if (!text) return;
    sign.classList.toggle("lost", lost || still());
    sign.title = (!lost && still() && asOf && asOf.why) || "";
    if (lost) text.textContent = "Reconnecting…, as of " + clock(heard);
    else if (still()) text.textContent = "Stands still since " + clock(asOf ? asOf.at : heard) + " UTC";
    else {
      const time = document.createElement("em");
      time.className = "mut";
      time.textContent = " · " + clock(asOf ? asOf.at : heard) + " UTC";
      text.replaceChildren("Live", time);
    }
  }

  function announce(kind) {
    let turn = due.get(kind);
    if (!turn) due.set(kind, (turn = { at: 0, timer: 0 }));
    if (turn.timer) return;
    const wait = Math.max(0, turn.at + (SLOWER_MS[kind] || PACE_MS) - Date.now());
    turn.timer = setTimeout(() => {
      turn.timer = 0;
      turn.at = Date.now();
      if (document.hidden) turn.missed = true;
      else body.dispatchEvent(new CustomEvent("live-" + kind));
    }, wait);
  }

  function everything() {
    for (const part of new Set(Object.values(shows).flat())) announce(part);
  }

  function hear(event) {
    heard = Date.now();
    if (event.type === "as-of") { asOf = JSON.parse(event.data); show(); }
    else if (event.type === "changed") for (const kind of JSON.parse(event.data)) for (const part of shows[kind] || []) announce(part);
    else body.dispatchEvent(new CustomEvent("stream-" + event.type, { detail: event.data }));
  }

  function lose() {
    if (!lost) { lost = true; show(); }
    if (source) source.close();
    source = null;
    clearTimeout(retry);
    retry = setTimeout(connect, RETRY_MS[Math.min(tries++, RETRY_MS.length - 1)]);
  }

  function connect() {
    clearTimeout(retry);
    retry = 0;
    if (source) source.close();
    source = new EventSource(url);
    source.onopen = () => {
      const again = lost;
      tries = 0; lost = false; heard = Date.now();
      show();
      if (again) everything();
    };
    source.onerror = lose;
    for (const name of ["hello", "changed", "rates", "tail", "sampled", "as-of"]) source.addEventListener(name, hear);
  }

  /* A browser gives one site six connections: a tab that nobody looks at gives its own back. */
  function sleepOrWake() {
    clearTimeout(sleeping);
    if (document.hidden) {
      sleeping = setTimeout(() => { if (source) source.close(); source = null; }, HIDDEN_MS);
      return;
    }
    if (!source) { lost = true; connect(); }
    for (const [kind, turn] of due) if (turn.missed) { turn.missed = false; announce(kind); }
  }

  if (url) {
    connect();
    document.addEventListener("visibilitychange", sleepOrWake);
    window.addEventListener("online", () => { if (lost) connect(); });
    window.addEventListener("pagehide", () => { if (source) source.close(); });
    setInterval(() => { if (source && !lost && Date.now() - heard > SILENCE_MS) lose(); else if (source && source.readyState === EventSource.OPEN) show(); }, 1000);
  }

  /* Times that run on their own: how long something has been waiting, or is still to wait. */
  function span(ms) {
    const s = Math.max(0, ms / 1000);
    if (s < 10) return s.toFixed(1) + "s";
    const parts = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];
    let whole = Math.floor(s);
    for (let i = 0; i < parts.length; i++) {
      const [length, unit] = parts[i];
      if (whole < length) continue;
      const first = Math.floor(whole / length) + unit;
      if (unit === "m" || unit === "s") return first;
      const second = Math.floor((whole % length) / parts[i + 1][0]);
      return second ? first + " " + second + parts[i + 1][1] : first;
    }
    return "0s";
  }
  const skew = Number(body.dataset.now || Date.now()) - Date.now();
  setInterval(() => {
    if (document.hidden || lost || still()) return;
    const now = Date.now() + skew;
    for (const element of document.querySelectorAll("[data-since]")) set(element, span(now - element.dataset.since));
    for (const element of document.querySelectorAll("[data-until]")) set(element, element.dataset.until <= now ? "now" : "in " + span(element.dataset.until - now));
  }, 1000);
  function set(element, value) { if (element.textContent !== value) element.textContent = value; }
})();
