/* A swap for htmx, `hx-swap="morph"`, that touches only what has changed: focus, selection, scroll
   positions and what people have typed stay as they are.

   The answer's first element is laid over the target. Children are matched by `data-key` or `id`,
   others by their place. Not touched: whatever is inside `data-own`, and the state of form fields.
   A table body with `data-steady` keeps its rows in their places while one of them is checked:
   cells change, rows that are no longer in the answer grow dim, and new ones wait. */
(function () {
  "use strict";

  function keyOf(node) {
    return node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id || null : null;
  }

  function alike(a, b) {
    return a.nodeType === b.nodeType && a.nodeName === b.nodeName;
  }

  function patch(from, to) {
    if (from.nodeType !== Node.ELEMENT_NODE) {
      if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
      return;
    }
    if (from.hasAttribute("data-own")) return;
    patchAttributes(from, to);
    if (from.hasAttribute("data-steady") && from.querySelector(":checked")) patchRows(from, to);
    else patchChildren(from, to);
  }

  /* What people have set: it is theirs, whatever the answer says. */
  function kept(element) {
    if (element.matches("input[type=checkbox], input[type=radio]")) return ["checked"];
    if (element.matches("input:not([type=hidden]), select, textarea")) return ["value"];
    return element.matches("dialog, details") ? ["open"] : [];
  }

  function patchAttributes(from, to) {
    const theirs = kept(from);
    for (const name of from.getAttributeNames()) {
      if (!to.hasAttribute(name) && !theirs.includes(name)) from.removeAttribute(name);
    }
    for (const { name, value } of to.attributes) {
      if (from.getAttribute(name) !== value && !theirs.includes(name)) from.setAttribute(name, value);
    }
  }

  function patchChildren(from, to) {
    const keyed = new Map();
    for (const child of from.children) if (keyOf(child)) keyed.set(keyOf(child), child);
    let at = from.firstChild;
    for (const next of [...to.childNodes]) {
      const key = keyOf(next);
      let match = key ? keyed.get(key) : at && !keyOf(at) ? at : null;
      if (match && !alike(match, next)) match = null;
      if (!match) {
        from.insertBefore(next, at);
        continue;
      }
      if (match === at) at = at.nextSibling;
      else from.insertBefore(match, at);
      patch(match, next);
    }
    while (at) {
      const rest = at.nextSibling;
      at.remove();
      at = rest;
    }
  }

  function patchRows(from, to) {
    const fresh = new Map([...to.children].map((row) => [keyOf(row), row]));
    for (const row of from.children) {
      const next = fresh.get(keyOf(row));
      row.classList.toggle("gone", !next);
      if (next) patchChildren(row, next);
    }
  }

  /* An answer to a question that is no longer asked, because the filter is another by now. */
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, requestConfig } = event.detail;
    const own = requestConfig.elt === target && target.hasAttribute("hx-get");
    if (own && target.getAttribute("hx-get") !== requestConfig.path) event.detail.shouldSwap = false;
  });

  htmx.defineExtension("morph", {
    isInlineSwap: (style) => style === "morph",
    handleSwap: (style, target, fragment) => {
      if (style !== "morph") return false;
      const next = fragment.firstElementChild;
      if (!next) return [];
      const focused = document.activeElement;
      patch(target, next);
      if (focused && focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
      return [target];
    },
  });
})();
