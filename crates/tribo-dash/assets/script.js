// What makes a page live. It swaps parts that have changed for what the server has made of them, and sends where sliders stand.
"use strict";

const live = document.getElementById("live");

function say(text, state) {
  if (live.textContent !== text) live.textContent = text;
  live.className = state;
}

// Elements that keep the focus, and those that were opened or scrolled, are found again by their place.
const FOCUS = "a,button,input,select,summary,[tabindex]";

function keep(before, after) {
  const places = (element, what) => [...element.querySelectorAll(what)];
  const focused = places(before, FOCUS).indexOf(document.activeElement);
  const opened = places(before, "details").map((one) => one.open);
  const scrolled = places(before, ".wide,pre").map((one) => [one.scrollLeft, one.scrollTop]);
  return () => {
    places(after, "details").forEach((one, i) => {
      if (opened[i] !== undefined) one.open = opened[i];
    });
    places(after, ".wide,pre").forEach((one, i) => {
      if (scrolled[i]) [one.scrollLeft, one.scrollTop] = scrolled[i];
    });
    if (focused >= 0) places(after, FOCUS)[focused]?.focus({ preventScroll: true });
  };
}

// The element of this id on another page of the server. What is parsed so runs no script.
async function brought(url, id) {
  const response = await fetch(url, { credentials: "same-origin", redirect: "error" });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.getElementById(id);
}

function swap(before, after) {
  const fresh = document.importNode(after, true);
  const restore = keep(before, fresh);
  before.replaceWith(fresh);
  restore();
}

// One request for each element at a time; what changes meanwhile is asked for afterwards.
const busy = new Set();
const again = new Set();

async function renew(id) {
  if (busy.has(id)) {
    again.add(id);
    return;
  }
  busy.add(id);
  try {
    const element = document.getElementById(id);
    const form = element.dataset.form && document.getElementById(element.dataset.form);
    const where = form ? `?${new URLSearchParams(new FormData(form))}` : "";
    const after = await brought(element.dataset.source + where, id);
    if (after && after.innerHTML === element.innerHTML) {
      element.dataset.revision = after.dataset.revision;
    } else if (after) {
      swap(element, after);
    }
    if (after && form) label(form, after);
  } catch {
    // The next event, or the first one of the next connection, says again what is missing.
    say("The connection is lost; trying again.", "off");
  }
  busy.delete(id);
  if (again.delete(id)) renew(id);
}

// The values beside the sliders.
function label(form, slices) {
  const shown = JSON.parse(slices.dataset.shown || "{}");
  for (const output of form.querySelectorAll("output")) {
    const text = shown[output.dataset.of];
    if (text === undefined) continue;
    output.textContent = text;
    const control = document.getElementById(output.dataset.of);
    // A list of choices says what is chosen by itself.
    if (control.type === "range") control.setAttribute("aria-valuetext", text);
  }
}

function listen() {
  const source = new EventSource(document.body.dataset.events);
  source.onopen = () => say("Live", "on");
  source.onerror = () => {
    const gone = source.readyState === EventSource.CLOSED;
    say(gone ? "The server is gone. Start tribo dash again and open its new link." : "The connection is lost; trying again.", "off");
  };
  source.onmessage = (message) => {
    say("Live", "on");
    const revisions = JSON.parse(message.data);
    for (const element of document.querySelectorAll("[data-part]")) {
      const revision = revisions[element.dataset.part];
      if (revision === undefined || revision === element.dataset.revision) continue;
      if ("reload" in element.dataset) location.reload();
      else renew(element.id);
    }
  };
}

for (const form of document.querySelectorAll("#sliders")) {
  form.querySelector("button").hidden = true;
  form.addEventListener("input", () => renew("slices"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    renew("slices");
  });
}

for (const element of document.querySelectorAll("[data-wanted]")) {
  brought(element.dataset.wanted, element.id).then((after) => after && swap(element, after), () => {});
}

if (document.body.dataset.events) listen();
