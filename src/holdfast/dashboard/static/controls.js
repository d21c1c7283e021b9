/* What people touch: dialogs, the hold panel, selection, shortcuts, and errors where they happen. */
(function () {
  "use strict";
  const $ = (selector, root) => (root || document).querySelector(selector);
  const $$ = (selector, root) => [...(root || document).querySelectorAll(selector)];
  const docked = matchMedia("(min-width: 1280px)");

  /* ---- Dialogs. The browser traps focus in them, closes them on Esc and gives focus back. ---- */
  function open(id, opener) {
    const dialog = document.getElementById(id);
    if (!dialog) return;
    if (dialog.matches(".panel") && docked.matches) {
      const field = $("textarea, input:not([type=hidden])", dialog);
      if (field) field.focus();
      return;
    }
    if (dialog.open && !dialog.matches(":modal")) dialog.close();
    if (opener && opener.hasAttribute("data-with-selection")) bring(dialog);
    $$("[data-error]", dialog).forEach((place) => place.replaceChildren());
    // Ticks that were right when the page was loaded may be wrong by now: holds come and go.
    $$(".holds input", dialog).forEach((box) => { box.checked = box.hasAttribute("data-meant"); });
    dialog.showModal();
    const field = $("textarea, input:not([type=hidden])", dialog);
    if (field) (field.matches("[type=radio]") ? $("input:checked", dialog) || field : field).focus();
  }

  /* The selected keys go along with the form of a dialog. */
  function bring(dialog) {
    const place = $("[data-selected]", dialog);
    const all = $(".keys [data-all-matching]");
    place.replaceChildren(
      ...selected().map((box) => hidden("key", box.value)),
      ...(all && all.checked ? [hidden("matching", all.value)] : []),
    );
    $$("[data-selected-count]", dialog).forEach((element) => { element.textContent = counted(); });
  }

  function hidden(name, value) {
    const input = document.createElement("input");
    Object.assign(input, { type: "hidden", name, value });
    return input;
  }

  function dock() {
    for (const panel of $$("dialog.panel")) {
      if (panel.matches(":modal")) panel.close();
      if (docked.matches && !panel.open) panel.show();
    }
    if (document.activeElement && document.activeElement.closest("dialog.panel")) document.activeElement.blur();
  }
  docked.addEventListener("change", dock);

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener) { event.preventDefault(); open(opener.dataset.open, opener); return; }
    const closer = event.target.closest("[data-close]");
    if (closer) { closer.closest("dialog").close(); return; }
    if (event.target.matches("dialog:modal")) event.target.close(); // its backdrop
    const pick = event.target.closest("[data-pick]");
    if (pick) { const field = document.getElementById(pick.dataset.pick); field.value = pick.textContent; field.focus(); }
    const copy = event.target.closest("[data-copy]");
    if (copy) copyText(copy);
    if (event.target.closest("[data-clear]")) clear();
  });
  document.addEventListener("close", (event) => {
    if (event.target.matches("dialog.panel") && docked.matches) event.target.show();
  }, true);

  function copyText(button) {
    const from = button.dataset.copy ? document.getElementById(button.dataset.copy) : null;
    const text = from ? from.textContent : location.href;
    navigator.clipboard.writeText(text).then(() => say("Copied."), () => say("The browser does not allow copying."));
  }
  function say(text) { const place = $("#said"); if (place) { place.textContent = text; setTimeout(() => { place.textContent = ""; }, 3000); } }

  /* ---- Selection in tables ---- */
  function selected() { return $$(".keys tbody input[type=checkbox]:checked"); }
  function counted() {
    const all = $(".keys [data-all-matching]");
    const count = all && all.checked ? Number(all.dataset.total) : selected().length;
    return count.toLocaleString("en") + (count === 1 ? " key" : " keys");
  }
  function clear() {
    $$(".keys input[type=checkbox]:checked").forEach((box) => { box.checked = false; });
    recount();
    document.body.dispatchEvent(new CustomEvent("live-keys")); // rows were kept in their places
  }
  function recount() {
    const boxes = selected(), all = $(".keys thead input[type=checkbox]"), rows = $$(".keys tbody input[type=checkbox]");
    if (all) { all.checked = rows.length > 0 && boxes.length === rows.length; all.indeterminate = boxes.length > 0 && boxes.length < rows.length; }
    const matching = $(".keys [data-all-matching]");
    if (matching) { const whole = all && all.checked; matching.closest("label").hidden = !whole; if (!whole) matching.checked = false; }
    const sums = boxes.reduce((sum, box) => [sum[0] + Number(box.dataset.events || 0), sum[1] + Number(box.dataset.bytes || 0)], [0, 0]);
    $$("[data-count]").forEach((element) => { element.textContent = counted().replace(/ keys?$/, "") + " selected"; });
    $$("[data-sums]").forEach((element) => { element.textContent = matching && matching.checked ? "" : sums[0].toLocaleString("en") + (sums[0] === 1 ? " event, " : " events, ") + bytes(sums[1]); });
  }
  function bytes(n) {
    for (const unit of ["B", "KiB", "MiB"]) { if (n < 1024) return (unit === "B" ? n : n.toFixed(1)) + " " + unit; n /= 1024; }
    return n.toFixed(1) + " GiB";
  }
  document.addEventListener("change", (event) => {
    if (!event.target.matches(".keys input[type=checkbox]")) return;
    if (event.target.closest("thead")) $$(".keys tbody input[type=checkbox]").forEach((box) => { box.checked = event.target.checked; });
    recount();
    if (!selected().length) document.body.dispatchEvent(new CustomEvent("live-keys"));
  });
  document.addEventListener("htmx:afterSwap", recount);

  /* ---- Forms ---- */
  function lines(text) { return new Set(text.split("\n").map((line) => line.trim()).filter((line) => line)).size; }
  document.addEventListener("input", (event) => {
    const field = event.target.closest("[data-counts]");
    if (!field) return;
    const count = lines(field.value);
    $("[data-counted]", field.form).textContent = count === 1 ? "Hold 1 key" : count ? "Hold " + count.toLocaleString("en") + " keys" : "Hold keys";
  });
  /* A value that somebody edits is the one to send. */
  document.addEventListener("input", (event) => {
    const box = event.target.dataset.ticks && document.getElementById(event.target.dataset.ticks);
    if (box) box.checked = true;
  });
  /* A button that needs ticks waits for the first. */
  document.addEventListener("change", (event) => {
    if (!event.target.matches("input[name=letter]")) return;
    const none = !$("#messages input[name=letter]:checked");
    $$("[data-needs-ticks]").forEach((button) => { button.disabled = none; });
  });
  /* How long a release takes at its pace. */
  document.addEventListener("input", (event) => {
    if (!event.target.matches("#release-pace, [name=pace_in_all]")) return;
    const form = event.target.form, pace = Number($("#release-pace").value), one = $("[data-events]", form);
    const events = one ? [Number(one.dataset.events)] : selected().map((box) => Number(box.dataset.events || 0));
    const together = $("[name=pace_in_all]", form)?.checked, sum = events.reduce((a, b) => a + b, 0);
    const seconds = (together ? sum : Math.max(0, ...events)) / pace;
    $("[data-takes]", form).textContent = pace > 0 && sum ? "Takes about " + (seconds < 90 ? Math.ceil(seconds) + " s" : seconds < 5400 ? Math.ceil(seconds / 60) + " min" : Math.ceil(seconds / 3600) + " h") + "." : "";
  });
  const SPANS = { "15m": 900e3, "1h": 3600e3, "4h": 4 * 3600e3, "24h": 24 * 3600e3, "7d": 7 * 24 * 3600e3 };
  function expiry(form) {
    const chosen = $("input[name=expires]:checked", form), hint = $("[data-expiry]", form);
    if (!chosen || !hint) return;
    if (!SPANS[chosen.value]) { hint.textContent = chosen.value === "never" ? "Held until it is released." : hint.dataset.expiry; return; }
    const at = new Date(Date.now() + SPANS[chosen.value]);
    const day = at.toDateString() === new Date().toDateString() ? "Today" : at.toUTCString().slice(5, 11);
    hint.textContent = day + " " + at.toISOString().slice(11, 16) + " UTC, " + String(at.getHours()).padStart(2, "0") + ":" + String(at.getMinutes()).padStart(2, "0") + " your time";
  }
  document.addEventListener("change", (event) => { if (event.target.matches("input[name=expires]")) expiry(event.target.form); });
  $$("form:has([data-expiry])").forEach(expiry);

  /* Times of filters may be read as local ones: the browser alone knows that zone. */
  for (const field of $$("select[data-zone]")) {
    const minutes = -new Date().getTimezoneOffset(), two = (n) => String(n).padStart(2, "0");
    const zone = (minutes < 0 ? "-" : "+") + two(Math.floor(Math.abs(minutes) / 60)) + ":" + two(Math.abs(minutes) % 60);
    const known = [...field.options].find((option) => option.value === zone);
    if (known) known.textContent = "your time";
    else if (minutes) field.add(new Option("your time", zone));
  }

  /* What was asked for is on its way: a dialog has done its work; the panel shows the receipt. */
  document.body.addEventListener("asked", (event) => {
    $$("dialog:modal:not(.panel)").forEach((dialog) => dialog.close());
    clear();
    const keys = event.target.closest(".panel") && $("[data-counts]");
    if (!keys) return;
    keys.value = "";
    keys.dispatchEvent(new Event("input", { bubbles: true }));
  });
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.id === "key-tools") $$(".keys input[type=checkbox]:checked").forEach((box) => { box.checked = false; });
    const form = event.target.closest("form");
    if (form) $$("[data-error]", form).forEach((place) => place.replaceChildren());
  });
  function fail(event, text) {
    const near = event.target.closest("form, dialog, section");
    const place = (near && $("[data-error]", near)) || $("[data-error]", $("main"));
    if (place) place.textContent = text;
  }
  function said(answer) {
    const kind = answer.getResponseHeader("Content-Type") || "";
    if (kind.startsWith("text/plain")) return answer.responseText;
    return kind.includes("json") ? JSON.parse(answer.responseText).detail : "";
  }
  document.body.addEventListener("htmx:responseError", (event) => {
    const answer = event.detail.xhr;
    if (answer.status === 401) { location.assign("/login?next=" + encodeURIComponent(location.pathname + location.search)); return; }
    const asked = event.detail.requestConfig.verb !== "get";
    if (!asked && answer.status >= 502) return; // the sign at the top says that we reconnect
    fail(event, said(answer) || "The answer was an error (" + answer.status + ").");
  });
  document.body.addEventListener("htmx:sendError", (event) => {
    if (event.detail.requestConfig.verb === "get") return;
    fail(event, "Holdfast could not be reached. The command may or may not have been sent: check the state before you try again.");
  });
  document.body.addEventListener("htmx:timeout", (event) => {
    if (event.detail.requestConfig.verb === "get") return;
    fail(event, "There was no answer in time. Check the state before you try again.");
  });

  /* ---- Shortcuts ---- */
  const POSITIONS = Object.fromEntries($$("[data-letter]").map((link) => [link.dataset.letter, link.href]));
  let going = 0;
  function visible(element) { return element && element.offsetParent !== null; }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]")) return;
    if ($("dialog:modal")) return;
    const now = Date.now();
    if (now - going < 1500 && POSITIONS[event.key]) { going = 0; location.assign(POSITIONS[event.key]); return; }
    going = 0;
    const actions = {
      "/": () => { const field = $$("[data-search]").find(visible); if (field) { field.focus(); field.select(); } },
      "?": () => open("shortcuts"),
      g: () => { going = now; },
      h: () => open("hold"),
      s: () => open("send"),
      r: () => { const button = $$("[data-open=release]").find(visible); if (button) button.click(); },
      t: () => $("[data-theme-toggle]").click(),
      Escape: () => { if (selected().length) clear(); },
    };
    if (!actions[event.key]) return;
    if (event.key !== "Escape") event.preventDefault();
    actions[event.key]();
  });
  $$(".box:has(.tl)").forEach((box) => { box.scrollLeft = box.scrollWidth; }); // now is at the right
  dock();
  if (location.hash.length > 1 && document.getElementById(location.hash.slice(1))?.matches("dialog")) open(location.hash.slice(1));
})();
