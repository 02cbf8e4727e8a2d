/* What pages do beyond links and forms: files are sent as streams, parts are fetched when their job
   is done, items can be dragged. Without it every step still works by links and forms. */
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const say = (text) => { const box = byId("say"); if (box) { box.textContent = text; } };

  /* Whether the server answers: it may have ended, or the machine have slept. */
  const gone = (is) => { const box = byId("gone"); if (box) { box.hidden = !is; } };

  /* -- what jobs tell ---------------------------------------------------------------------------- */

  const ENDED = new Set(["done", "failed", "cancelled", "killed"]);
  const told = new Map(); // what was told last of each job
  let events = null;

  /* The bar of a part itself, not of one inside it. */
  const barOf = (part) => part.querySelector(
    part.tagName === "TR" ? "progress" : ":scope > .working progress");

  function waiting() {
    return [...document.querySelectorAll("[data-job]")].filter(barOf);
  }

  function listen() {
    const address = document.body.dataset.events;
    const wanted = address && !document.hidden && waiting().length > 0;
    if (!wanted) {
      if (events) { events.close(); events = null; told.clear(); }
      return;
    }
    if (!events) {
      events = new EventSource(address);
      events.addEventListener("job", (event) => {
        const job = JSON.parse(event.data);
        told.set(job.id, job);
        tell(job);
      });
      events.addEventListener("open", () => gone(false));
      events.addEventListener("error", () => setTimeout(() => {
        if (events && events.readyState !== EventSource.OPEN) { gone(true); }
      }, 3000));
    }
    // A part may come in after its job was told of.
    for (const part of waiting()) {
      if (told.has(part.dataset.job)) { tell(told.get(part.dataset.job)); }
    }
  }

  function tell(job) {
    for (const part of document.querySelectorAll(`[data-job="${CSS.escape(job.id)}"]`)) {
      const bar = barOf(part);
      if (!bar || part.dataset.fetching) { continue; }
      const words = part.querySelector(":scope > .working .stage");
      if (words) { words.textContent = job.words; }
      if (ENDED.has(job.state)) {
        part.dataset.fetching = "yes";
        htmx.ajax("GET", part.dataset.url + location.search, { target: part, swap: "outerHTML" });
      } else if (job.total > 0) {
        bar.max = job.total;
        bar.value = job.completed;
      } else {
        bar.removeAttribute("value");
      }
    }
  }

  /* -- files ------------------------------------------------------------------------------------- */

  let sending = null;

  const pathOf = (file) => file.inFolder || file.webkitRelativePath || "";

  async function send(files) {
    const list = [...files].filter((file) => !file.name.startsWith("."));
    if (list.length === 0) { return; }
    byId("sending-error").hidden = true;
    byId("sending").hidden = false;
    const folder = list.length > 1 || pathOf(list[0]).includes("/");
    const named = (file) => (folder ? (pathOf(file) || `files/${file.name}`) : file.name);
    const total = list.reduce((sum, file) => sum + file.size, 0);
    const source = folder ? named(list[0]).split("/")[0] : list[0].name;
    let project = null, before = 0;
    try {
      project = await post("/api/v1/projects", { name: source });
      for (const file of list) {
        byId("sending-what").textContent = file.name;
        const address = named(file).split("/").map(encodeURIComponent).join("/");
        await put(`/api/v1/projects/${project.id}/files/${address}`, file, (done) => {
          byId("sending-bar").value = total ? (before + done) / total : 1;
        });
        before += file.size;
      }
      sending = null;
      location.assign(`/p/${project.id}?source=${encodeURIComponent(source)}`);
    } catch (problem) {
      sending = null;
      byId("sending").hidden = true;
      if (project) { fetch(`/api/v1/projects/${project.id}`, { method: "DELETE" }).catch(() => gone(true)); }
      if (problem instanceof TypeError) { gone(true); return; } // no answer at all
      if (problem.message) { failed(problem.message); }
    }
  }

  function failed(message) {
    const error = byId("sending-error");
    error.textContent = message;
    error.hidden = false;
    error.focus();
  }

  async function post(address, content) {
    const answer = await fetch(address, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(content),
    });
    const told = await answer.json();
    if (!answer.ok) { throw new Error(told.error.message); }
    return told;
  }

  function put(address, file, progress) {
    return new Promise((resolve, reject) => {
      sending = new XMLHttpRequest();
      sending.open("PUT", address);
      sending.upload.addEventListener("progress", (event) => progress(event.loaded));
      sending.addEventListener("load", () => {
        if (sending.status < 300) { resolve(); return; }
        let text = sending.statusText;
        try { text = JSON.parse(sending.responseText).error.message; } catch { /* not ours */ }
        reject(new Error(text));
      });
      sending.addEventListener("error", () => reject(new Error(byId("upload").dataset.failed)));
      sending.addEventListener("abort", () => reject(new Error("")));
      sending.send(file);
    });
  }

  function prepare(root) {
    for (const one of root.querySelectorAll("[data-needs-script]")) { one.hidden = false; }
    const drop = root.querySelector("#drop");
    if (!drop) { return; }
    for (const id of ["file", "folder"]) {
      byId(id).addEventListener("change", (event) => send(event.target.files));
    }
    byId("upload").addEventListener("submit", (event) => event.preventDefault());
    byId("sending-stop").addEventListener("click", () => { if (sending) { sending.abort(); } });
    drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      dropped(event.dataTransfer).then(send).catch(() => failed(byId("upload").dataset.failed));
    });
  }

  /* The files that were dropped, with those inside of folders. */
  async function dropped(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry());
    if (!entries.some((entry) => entry && entry.isDirectory)) { return [...transfer.files]; }
    const found = [];
    const walk = async (entry) => {
      if (entry.isFile) {
        const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
        file.inFolder = entry.fullPath.slice(1);
        found.push(file);
        return;
      }
      const reader = entry.createReader();
      for (;;) { // some at a time, until there are no more
        const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (some.length === 0) { return; }
        for (const one of some) { await walk(one); }
      }
    };
    for (const entry of entries) { if (entry) { await walk(entry); } }
    return found.sort((one, other) => (one.inFolder < other.inFolder ? -1 : 1));
  }

  window.addEventListener("beforeunload", (event) => { if (sending) { event.preventDefault(); } });

  /* -- forms and lists ---------------------------------------------------------------------------- */

  /* A choice that opens a field means something once the field is filled in. */
  document.addEventListener("change", (event) => {
    const reveals = event.target.dataset && event.target.dataset.reveals;
    const field = reveals && byId(reveals);
    if (field && field.value.trim() === "") { event.stopPropagation(); field.focus(); }
  }, true);

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-autosend]")) { event.target.form.requestSubmit(); }
  });

  /* A link that is followed while a form is on its way leads on from what the form says. */
  let after = "";
  const onItsWay = () => document.querySelector("form.htmx-request[hx-post]");
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[href^='/p/']:not([download], [target])");
    const own = link && link.pathname.replace(/[^/]*$/, "") === location.pathname.replace(/[^/]*$/, "");
    if (own && onItsWay()) { event.preventDefault(); after = link.pathname.replace(/.*\//, ""); }
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    const message = byId("message");
    if (message && event.target.id === "page") { message.scrollIntoView(); message.focus(); after = ""; }
    if (!after || onItsWay()) { return; }
    const step = after;
    after = "";
    location.assign(location.pathname.replace(/[^/]*$/, step));
  });

  document.addEventListener("submit", (event) => {
    const asked = event.target.dataset && event.target.dataset.confirm;
    if (asked && !window.confirm(asked)) { event.preventDefault(); }
  });

  document.addEventListener("dragstart", (event) => {
    const item = event.target.closest && event.target.closest("[data-item]");
    if (!item) { return; }
    const box = item.querySelector("input");
    box.checked = true;
    event.dataTransfer.setData("text/plain", item.dataset.item);
    event.dataTransfer.effectAllowed = "move";
  });

  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      const set = event.target.closest && event.target.closest("[data-drop]");
      const form = byId("moving");
      if (!set || !form) { return; }
      event.preventDefault();
      set.classList.toggle("over", name === "dragover");
      if (name === "drop") {
        byId("target").value = set.dataset.drop;
        form.requestSubmit(form.querySelector("button[value=move]"));
      }
    });
  }

  /* What is refused takes the whole page, wherever its answer was to go. */
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status >= 400 && byId("page")) {
      event.detail.target = byId("page");
      event.detail.selectOverride = "#page";
      event.detail.swapOverride = "outerHTML";
    }
  });
  document.addEventListener("htmx:sendError", () => { after = ""; gone(true); });
  document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.successful) { gone(false); } });
  document.addEventListener("visibilitychange", listen);
  document.addEventListener("htmx:afterSettle", (event) => {
    listen();
    const busy = event.target.getAttribute && event.target.getAttribute("aria-busy");
    const told = event.target.querySelector && event.target.querySelector(".verdict .big, .note h2, .promise p");
    if (busy !== "true" && told) { say(told.textContent); }
  });
  document.addEventListener("DOMContentLoaded", () => { prepare(document); listen(); });
})();
