"""How a report looks, beyond the skeleton of all pages."""

from __future__ import annotations

from overcoat.reports.plots import STYLE as _PLOTS

__all__ = ["STYLE"]

# Colours of the edges of boxes have a contrast of at least 3 to the ground.
STYLE = (
    _PLOTS
    + """
:root { --good: #1f7a3d; --bad: #b3261e; --open: #8a5a00; --plain: #5b6470 }
@media (prefers-color-scheme: dark) {
  :root { --good: #6fce8f; --bad: #ff8a80; --open: #e0b04f; --plain: #9aa4b1 }
}
body { max-width: 62rem }
a { color: inherit; text-underline-offset: .15em }
.edition {
  display: inline-block; margin: 0; padding: .1rem .6rem; border: 1px solid var(--plain);
  border-radius: 1rem; font-size: .85rem;
}
.boxes {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr));
  gap: .75rem; margin: 1rem 0;
}
.box {
  border: 1px solid var(--line); border-left: .35rem solid var(--plain); border-radius: .3rem;
  padding: .6rem 1rem; background: var(--shade);
}
.box h2 { margin: 0 0 .3rem; font-size: 1.05rem }
.box p, .box ul { margin: .3rem 0; font-size: .95rem }
.box.good { border-left-color: var(--good) }
.box.bad { border-left-color: var(--bad) }
.box.open { border-left-color: var(--open) }
.box .big { font-size: 1.15rem; font-weight: 600 }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding: 0; list-style: none }
blockquote {
  margin: .5rem 0; padding: .1rem 1rem; border-left: .2rem solid var(--line); max-width: 46rem;
}
section > p, section > ul { margin: .6rem 0 }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)) }
.scrolling { width: fit-content; max-width: 100%; margin: .75rem 0 }
.scrolling + .scrolling { margin-top: 1.25rem }
td, tbody th { vertical-align: top; white-space: normal }
bdi.long, td code { overflow-wrap: anywhere }
td:has(code) { min-width: 14rem; max-width: 40rem }
tbody th { min-width: 9rem; max-width: 26rem; font-weight: 400 }
td.number { white-space: nowrap; overflow-wrap: normal }
td:not(.number) { max-width: 22rem }
.groups td:not(.number) { min-width: 8rem }
thead th { white-space: normal }
summary { cursor: pointer }
summary:focus-visible, a:focus-visible { outline: 3px solid #0072b2; outline-offset: 2px }
details > p { margin: .3rem 0 .5rem; font-size: .85rem; overflow-wrap: anywhere }
h3 { display: inline; font-size: 1.05rem }
.members {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr));
  column-gap: 1.5rem; margin: .4rem 0 .75rem;
}
.members details { border-bottom: 1px solid var(--line); padding: .15rem 0 }
section > details { margin: .75rem 0; max-width: 60rem }
code { font-size: .85em; overflow-wrap: anywhere }
pre {
  white-space: pre-wrap; overflow-wrap: anywhere; background: var(--shade); padding: .6rem;
  border-radius: .3rem;
}
@media (max-width: 30rem) {
  tbody th { min-width: 7rem; position: static }
  th, td { padding: .25rem .4rem }
}
@media print {
  nav { display: none }
  .boxes { grid-template-columns: 1fr 1fr; gap: .4rem }
  .box, figure, blockquote { break-inside: avoid }
  .box p, .box ul { font-size: 9pt }
  section { break-inside: auto }
  table { font-size: 8pt }
  details::details-content { content-visibility: visible; block-size: auto; opacity: 1 }
  td:not(.number), td:last-child:not(.number) { min-width: 0 }
  h2 { break-after: avoid }
  details > p { font-size: 8pt }
  .members { display: block }
  summary { break-after: avoid }
}
"""
)
