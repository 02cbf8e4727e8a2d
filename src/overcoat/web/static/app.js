/* What pages do beyond links and forms: files are sent as streams, parts are fetched when their job
   is done, items can be dragged. Without it every step still works by links and forms. */
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const say = (text) => { const box = byId("say"); if (box) { box.textContent = text; } };

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

  async function send(files) {
    const list = [...files].filter((file) => !file.name.startsWith("."));
    if (list.length === 0) { return; }
    const error = byId("sending-error");
    error.hidden = true;
    byId("sending").hidden = false;
    const folder = list.length > 1 || (list[0].webkitRelativePath || "").includes("/");
    const named = (file) => (folder ? (file.webkitRelativePath || `files/${file.name}`) : file.name);
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
      location.assign(`/p/${project.id}?source=${encodeURIComponent(source)}`);
    } catch (problem) {
      byId("sending").hidden = true;
      if (project) { fetch(`/api/v1/projects/${project.id}`, { method: "DELETE" }); }
      if (problem.message) { error.textContent = problem.message; error.hidden = false; error.focus(); }
    }
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
      send(event.dataTransfer.files);
    });
  }

  /* -- forms and lists ---------------------------------------------------------------------------- */

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-autosend]")) { event.target.form.requestSubmit(); }
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

  document.addEventListener("visibilitychange", listen);
  document.addEventListener("htmx:afterSettle", (event) => {
    listen();
    const busy = event.target.getAttribute && event.target.getAttribute("aria-busy");
    const told = event.target.querySelector && event.target.querySelector(".verdict .big, .note h2, .promise p");
    if (busy !== "true" && told) { say(told.textContent); }
  });
  document.addEventListener("DOMContentLoaded", () => { prepare(document); listen(); });
})();
