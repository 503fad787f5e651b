"""The look of a running turn. Colours are the front end's own, so that its themes apply."""

CSS = """
.hermes-turn {
  --hermes-text: var(--jp-ui-font-color1, var(--vscode-editor-foreground, currentColor));
  --hermes-quiet: var(--jp-ui-font-color2, rgba(127, 127, 127, 1));
  --hermes-line: var(--jp-border-color2, rgba(127, 127, 127, .3));
  --hermes-shade: var(--jp-layout-color2, rgba(127, 127, 127, .1));
  --hermes-mono: var(--jp-code-font-family, ui-monospace, monospace);
  --hermes-accent: var(--jp-brand-color1, #1976d2);
  --hermes-ok: var(--jp-success-color1, #388e3c);
  --hermes-bad: var(--jp-error-color1, #d32f2f);
  --hermes-warn: var(--jp-warn-color1, #e65100);
  color: var(--hermes-text);
  font-family: var(--jp-ui-font-family, system-ui, sans-serif);
  font-size: var(--jp-ui-font-size1, 13px);
  gap: 6px;
  padding: 2px 0;
}
.hermes-turn .jupyter-widgets { margin: 0; }
.hermes-turn .widget-vbox { overflow: visible; }
.hermes-turn .widget-html { width: auto; height: auto; }
.hermes-turn .widget-html-content {
  flex: 1 1 0; min-width: 0; line-height: 1.5; overflow: visible; color: inherit;
  font-size: inherit;
}
.hermes-turn .hermes-style { display: none; }
.hermes-body { gap: 6px; }
.hermes-text {
  font-size: var(--jp-content-font-size1, 14px); padding: 2px 0; overflow-wrap: anywhere;
}
.hermes-text > :first-child { margin-top: 0; }
.hermes-text > :last-child { margin-bottom: 0; }

.hermes-batch { border-left: 2px solid var(--hermes-line); padding-left: 8px; gap: 1px; }
.hermes-progress { display: flex; align-items: center; gap: 10px; color: var(--hermes-quiet); }
.hermes-progress progress {
  appearance: none; border: 0; height: 4px; width: 120px; border-radius: 2px; overflow: hidden;
  background: var(--hermes-shade); accent-color: var(--hermes-accent);
}
.hermes-progress progress::-webkit-progress-bar { background: var(--hermes-shade); }
.hermes-progress progress::-webkit-progress-value { background: var(--hermes-accent); }
.hermes-progress progress::-moz-progress-bar { background: var(--hermes-accent); }

.hermes-call > summary {
  display: flex; align-items: baseline; gap: 8px; cursor: pointer; list-style: none;
  padding: 1px 6px 1px 2px; border-radius: 4px;
}
.hermes-call > summary::-webkit-details-marker { display: none; }
.hermes-call > summary::before { content: "›"; color: var(--hermes-quiet); width: .6em; }
.hermes-call[open] > summary::before { content: "⌄"; }
.hermes-call > summary:hover { background: var(--hermes-shade); }
.hermes-call > summary:focus-visible, .hermes-turn button:focus-visible,
.hermes-turn .hermes-field input:focus-visible, .hermes-turn .hermes-say input:focus-visible,
.hermes-turn .hermes-edit textarea:focus-visible {
  outline: 2px solid var(--hermes-accent) !important; outline-offset: 1px;
}
.hermes-name { font-weight: 600; white-space: nowrap; }
.hermes-short {
  flex: 1 1 0; min-width: 4em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  font-family: var(--hermes-mono); font-size: .93em; color: var(--hermes-quiet);
}
.hermes-state { color: var(--hermes-quiet); white-space: nowrap; }
.hermes-is-ok .hermes-sign { color: var(--hermes-ok); }
.hermes-is-error .hermes-sign, .hermes-is-timeout .hermes-sign { color: var(--hermes-bad); }
.hermes-is-error .hermes-state, .hermes-is-timeout .hermes-state { color: var(--hermes-bad); }
.hermes-is-asking .hermes-state { color: var(--hermes-text); font-weight: 600; }
.hermes-is-asking .hermes-sign::before { content: "●"; color: var(--hermes-warn); }
.hermes-turn pre.hermes-listing {
  margin: 3px 0 5px 20px; padding: 6px 10px; max-height: 20em; overflow: auto;
  font-family: var(--hermes-mono); font-size: .93em; line-height: 1.45; color: inherit;
  white-space: pre-wrap; overflow-wrap: anywhere;
  background: var(--hermes-shade); border: 0; border-radius: 4px;
}
.hermes-live {
  padding-left: 24px; color: var(--hermes-quiet); font-size: .93em; overflow: hidden;
  white-space: nowrap; text-overflow: ellipsis; font-family: var(--hermes-mono);
}

.hermes-lanes { padding-left: 24px; gap: 4px; }
.hermes-child { border-left: 2px solid var(--hermes-line); padding-left: 8px; gap: 1px; }
.hermes-child-row { align-items: center; gap: 2px; }
.hermes-turn .hermes-child-row > .widget-html { flex: 1 1 auto; min-width: 0; }
.hermes-child-line { display: flex; align-items: baseline; gap: 8px; }
.hermes-child-line .hermes-name {
  flex: 0 1 auto; min-width: 4em; overflow: hidden; text-overflow: ellipsis;
}
.hermes-child-line .hermes-state {
  flex: 1 1 auto; overflow: hidden; text-overflow: ellipsis; font-variant-numeric: tabular-nums;
}
.hermes-child .hermes-live { padding-left: 14px; }
.hermes-child-details { padding-left: 6px; gap: 1px; }
.hermes-child-details .hermes-text { font-size: inherit; }
.hermes-turn .hermes-button.hermes-flat.jupyter-button {
  border-color: transparent; background: transparent; min-height: 22px; padding: 0 8px;
  color: var(--hermes-quiet); font-size: .93em;
}

.hermes-card {
  border: 1px solid var(--hermes-line); border-left: 3px solid var(--hermes-warn);
  border-radius: 4px; padding: 8px 12px; margin: 4px 0 6px 0 !important; gap: 8px;
  background: var(--jp-layout-color1, transparent);
}
.hermes-card.hermes-question { border-left-color: var(--hermes-accent); }
.hermes-card .hermes-asker, .hermes-quiet { color: var(--hermes-quiet); font-weight: normal; }
.hermes-card h4 { margin: 0 0 2px; font-size: 1.05em; font-weight: 600; color: inherit; }
.hermes-card p { margin: 0 0 4px; }
.hermes-card pre.hermes-listing { margin: 6px 0; max-height: 26em; }
.hermes-card .hermes-effects { margin: 6px 0; padding-left: 18px; }
.hermes-card .hermes-effects li { margin: 0; overflow-wrap: anywhere; }
.hermes-card q { font-style: italic; }
.hermes-card code { font-family: var(--hermes-mono); font-size: .93em; color: inherit; }
.hermes-card dl {
  display: grid; grid-template-columns: max-content 1fr; gap: 0 10px; margin: 6px 0 0;
  color: var(--hermes-quiet);
}
.hermes-card dt, .hermes-card dd { margin: 0; font-weight: normal; }
.hermes-card dt { white-space: nowrap; }
.hermes-card dd { overflow-wrap: anywhere; }
.hermes-turn .hermes-buttons { gap: 8px; flex-wrap: wrap; overflow: visible; padding: 2px 0; }
.hermes-turn .hermes-button.jupyter-button {
  width: auto; max-width: 100%; height: auto; min-height: 28px; padding: 2px 14px;
  line-height: 1.4; font-family: inherit; font-size: inherit; border-radius: 4px;
  color: var(--hermes-text); background: var(--jp-layout-color1, transparent);
  border: 1px solid var(--jp-border-color1, rgba(127, 127, 127, .6)); box-shadow: none;
  white-space: normal; text-align: left;
}
.hermes-turn .hermes-button.jupyter-button:hover:enabled { background: var(--hermes-shade); }
.hermes-turn .hermes-button.hermes-deny { color: var(--hermes-bad); }
.hermes-turn .hermes-button.hermes-deny:hover:enabled { border-color: var(--hermes-bad); }
.hermes-turn .hermes-talk { gap: 6px; overflow: visible; }
.hermes-turn .hermes-say { flex: 1 1 10em; width: auto; max-width: 34em; }
.hermes-turn .hermes-say input {
  height: 24px; padding: 1px 8px; font-family: inherit; font-size: .93em; border-radius: 4px;
  color: var(--hermes-text); background: transparent; border: 1px solid var(--hermes-line);
  box-shadow: none;
}
.hermes-turn .hermes-say input:focus-visible { outline-offset: -2px; }
.hermes-turn .hermes-small.jupyter-button {
  min-height: 24px; padding: 0 10px; font-size: .93em; background: transparent;
  color: var(--hermes-quiet); border-color: var(--hermes-line);
}
.hermes-spoken {
  border-left: 2px solid var(--hermes-accent); padding-left: 8px; white-space: pre-wrap;
  overflow-wrap: anywhere;
}
.hermes-turn .hermes-field { flex: 1 1 14em; width: auto; max-width: 34em; }
.hermes-turn .hermes-field input, .hermes-turn .hermes-edit textarea {
  font-family: inherit; font-size: inherit; color: var(--hermes-text); border-radius: 4px;
  background: var(--jp-layout-color1, transparent);
  border: 1px solid var(--jp-border-color1, rgba(127, 127, 127, .6)); box-shadow: none;
}
.hermes-turn .hermes-field input { height: 28px; padding: 2px 8px; }
.hermes-turn .hermes-edit { width: 100%; height: auto; }
.hermes-turn .hermes-edit textarea {
  font-family: var(--hermes-mono); font-size: .93em; line-height: 1.45; padding: 6px 10px;
  resize: vertical;
}
.hermes-turn .hermes-said { align-self: center; }

/* A button that appears, or moves, below a pointer that is clicking must not be hit by it. */
.hermes-turn .hermes-allow.jupyter-button { animation: hermes-appear .45s; }
.hermes-moved-0 .hermes-allow.jupyter-button { animation: hermes-settle-0 .45s; }
.hermes-moved-1 .hermes-allow.jupyter-button { animation: hermes-settle-1 .45s; }
@keyframes hermes-appear { 0% { opacity: .3; } 0%, 99% { pointer-events: none; } }
@keyframes hermes-settle-0 { 0%, 99% { pointer-events: none; } }
@keyframes hermes-settle-1 { 0%, 99% { pointer-events: none; } }
.hermes-turn .hermes-choices { flex-flow: row wrap; gap: 8px; overflow: visible; padding: 2px 0; }

.hermes-notice { color: var(--hermes-quiet); }
.hermes-notice.hermes-warning .hermes-sign { color: var(--hermes-warn); }
.hermes-notice p { display: inline; margin: 0; }
.hermes-decided { margin-left: 18px; color: var(--hermes-quiet); }
.hermes-decided p { margin: 4px 0 0 20px; }
.hermes-outcome { overflow-wrap: anywhere; }
.hermes-ended { font-weight: 600; color: var(--hermes-bad); }
.hermes-footer { align-items: center !important; color: var(--hermes-quiet); font-size: .93em; }
.hermes-status { display: flex; gap: .35em; align-items: baseline; }
.hermes-doing {
  flex: 0 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
}
.hermes-doing::after { content: " ·"; }
.hermes-numbers { flex: none; font-variant-numeric: tabular-nums; }
.hermes-running::before, .hermes-is-running .hermes-sign::before {
  content: ""; display: inline-block; flex: none; width: 7px; height: 7px; border-radius: 50%;
  margin-right: 8px; background: var(--hermes-accent);
  animation: hermes-breathe 2.4s ease-in-out infinite;
}
.hermes-is-running .hermes-sign::before { margin-right: 2px; }
@keyframes hermes-breathe { 50% { opacity: .25; } }
@media (prefers-reduced-motion: reduce) {
  .hermes-running::before, .hermes-is-running .hermes-sign::before { animation: none; }
}
"""
