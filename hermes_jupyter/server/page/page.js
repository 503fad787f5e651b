// Lists what waits in all kernels, and answers it. All text of others goes in as text, never as
// HTML. An answer brings back the digest of what was shown; nothing is ever answered twice or by
// itself.
//
// JupyterHub takes a cookie only with the XSRF token, for reading too, but for what a page loads in
// the plain way: so this is no module, and each request of ours brings the token.

'use strict';

const xsrf = document.querySelector('meta[name=xsrf]').content;
const here = new URL('.', document.location);
const waiting = new Map(); // kernel and id -> {kernel, shown, kind, card, heardAt}
const turns = new Map(); // kernel and id -> {kernel, shown, card}
const notebooks = new Map(); // kernel -> path
const mine = new Set(); // kernels and ids of what this page has answered
const BY = 'page'; // what kernels tell others of where an answer came from
const LOGGED_OUT = 'You are logged out here. Load this page anew to log in.';
const UNTIL_AGAIN = [1, 2, 4, 8, 15]; // seconds
let tries = 0;

if (here.search || document.location.search) {
  history.replaceState(null, '', here.pathname); // a token in the address is not kept there
}

const find = id => document.getElementById(id);

function make(kind, about = {}, ...children) {
  const { text, ...more } = about;
  const element = document.createElement(kind);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(more)) {
    if (name === 'click') element.addEventListener('click', value);
    else if (value !== '') element.setAttribute(name, value);
  }
  element.append(...children.filter(Boolean));
  return element;
}

// What kernels tell has nothing without ink in it; the name of a file may, and turn what follows it.
function where(kernel) {
  const spelled = sign => `⟨U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
  const path = notebooks.get(kernel)?.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, spelled);
  return path || `kernel ${kernel.slice(0, 8)}`;
}

// Cards

function facts(pairs) {
  const list = make('dl');
  for (const [term, said] of pairs) {
    if (said) list.append(make('dt', { text: term }), make('dd', { text: said }));
  }
  return list;
}

function diff(text) {
  const listing = make('pre', { tabindex: '0', role: 'group', 'aria-label': 'The change' });
  const lines = text.replace(/\n$/, '').split('\n');
  lines.forEach((line, n) => {
    const namesFile = (line.startsWith('--- ') && lines[n + 1]?.startsWith('+++ ')) ||
      (line.startsWith('+++ ') && lines[n - 1]?.startsWith('--- '));
    const kind = namesFile ? 'quiet' : line.startsWith('+') ? 'plus' : line.startsWith('-') ? 'minus' : '';
    listing.append(make('span', { class: kind, text: `${line}\n` }));
  });
  return listing;
}

function effects({ effects, reasons }) {
  if (effects.join() === reasons.join()) return []; // they are read already
  return [make('ul', { 'aria-label': 'What it does' }, ...effects.map(text => make('li', { text })))];
}

function requestCard(kernel, shown) {
  const title = `title-${shown.id}`;
  const card = make('article', { class: 'waits', role: 'group', 'aria-labelledby': title });
  const said = make('p', { role: 'status', class: 'quiet' });
  const note = make('input', {
    placeholder: 'and say why: the model reads it',
    'aria-label': 'A note with a denial',
    maxlength: '4000'
  });
  const answer = more => send(card, said, kernel, 'answer', {
    request: shown.id, digest: shown.digest, by: BY, ...more
  }, () => mark(named(kernel, shown.id)));
  const button = (text, kind, choice, label) =>
    make('button', { text, class: kind, 'aria-label': label || text, click: () => answer(choice()) });
  const allow = [
    button('Allow once', 'yes', () => ({ choice: 'once' })),
    button('Allow this session', 'yes', () => ({ choice: 'session' }), `Allow this session: ${shown.grant}`)
  ];
  if (shown.choices.includes('always')) {
    allow.push(button('Always', 'yes', () => ({ choice: 'always' }), `Always, by this rule: ${shown.rule}`));
  }
  if (shown.edit) allow.push(make('button', { text: 'Edit', click: () => editing.toggleAttribute('hidden') }));
  const field = make('textarea', { rows: '4', 'aria-label': `Edit ${shown.edit?.name || ''}`, spellcheck: 'false' });
  field.value = shown.edit?.text || '';
  const editing = make('div', { hidden: 'hidden', class: 'row' }, field,
    button('Run edited', 'yes', () => ({ choice: 'once', edited: field.value })));
  const asker = shown.who === 'agent' ? '' : ` for ${shown.who}`;
  card.append(
    make('h3', { id: title, text: `${shown.tool}${asker} asks for approval` }),
    ...(shown.risk === 'high' ? [make('p', { class: 'risk', text: 'High risk' })] : []),
    make('p', { class: 'why', text: shown.reasons.join('; ') }),
    shown.diff ? diff(shown.diff) : make('pre', { tabindex: '0', role: 'group', 'aria-label': 'What would run', text: shown.what }),
    ...effects(shown),
    facts([
      ['Where', where(kernel)], ['Changes', shown.diff ? shown.what : ''], ['Folder', shown.folder],
      ['On', shown.place], ['The model says', shown.purpose], ['This session', shown.grant],
      ['Always', shown.rule], ['Asked', new Date(shown.asked_at * 1000).toLocaleTimeString()]
    ]),
    make('div', { class: 'row' }, ...allow),
    editing,
    make('div', { class: 'row' }, button('Deny', 'no', () => ({ choice: 'deny', note: note.value })), note),
    said
  );
  return card;
}

function questionCard(kernel, shown) {
  const title = `title-${shown.id}`;
  const card = make('article', { class: 'waits', role: 'group', 'aria-labelledby': title });
  const said = make('p', { role: 'status', class: 'quiet' });
  const field = make('input', {
    'aria-label': 'Your answer', type: shown.secret ? 'password' : 'text', autocomplete: 'off',
    placeholder: shown.options.length ? 'Another answer' : 'Your answer'
  });
  const reply = text => send(card, said, kernel, 'reply', {
    question: shown.id, digest: shown.digest, by: BY, text
  }, () => mark(named(kernel, shown.id)));
  card.append(
    make('h3', { id: title, text: shown.text }),
    facts([['Where', where(kernel)]]),
    make('div', { class: 'row' }, ...shown.options.map(text => make('button', { text, click: () => reply(text) }))),
    make('div', { class: 'row' }, field,
      make('button', { text: 'Answer', class: 'yes', click: () => reply(field.value) }),
      make('button', { text: 'No answer', class: 'no', click: () => reply(null) })),
    said
  );
  return card;
}

function turnCard(kernel, shown) {
  const said = make('p', { role: 'status', class: 'quiet' });
  const field = make('input', { 'aria-label': 'Say something to the agent', placeholder: 'Say something to the agent' });
  const card = make('article');
  const about = { turn: shown.turn };
  card.append(
    make('h3', { text: shown.title || shown.session }),
    make('p', { class: 'quiet' }),
    make('div', { class: 'row' }, field,
      make('button', { text: 'Say', click: () => field.value.trim() && send(card, said, kernel, 'say', { ...about, text: field.value }, () => { field.value = ''; }) }),
      make('button', { text: 'Stop', class: 'no', click: () => send(card, said, kernel, 'stop', about) })),
    said
  );
  return card;
}

function progress(kernel, shown) {
  const cost = shown.cost ? ` · $${shown.cost.toFixed(shown.cost < 0.1 ? 4 : 2)}` : '';
  const steps = shown.steps === 1 ? '1 step' : `${shown.steps} steps`;
  return `${where(kernel)} · ${shown.state} · ${steps} · ${shown.tokens.toLocaleString()} tokens${cost}`;
}

// What kernels tell. Code in one may tell anything: it must not hide what waits in another.

const named = (kernel, id) => `${kernel} ${id}`;

function each(of, what) {
  for (const one of of) {
    try { what(one); } catch (error) { console.warn('What a kernel told cannot be shown:', error); }
  }
}

function take(kernel, kind, shown) {
  if (waiting.has(named(kernel, shown.id))) return;
  const card = kind === 'request' ? requestCard(kernel, shown) : questionCard(kernel, shown);
  waiting.set(named(kernel, shown.id), { kernel, kind, shown, card, heardAt: performance.now() });
  find('waiting').append(card);
  find('news').textContent = kind === 'request' ? `${shown.tool} asks for approval` : 'A question waits for you';
  counted();
}

function leave(name, outcome) {
  const there = waiting.get(name);
  if (!there) return;
  waiting.delete(name);
  const had = there.card.contains(document.activeElement);
  there.card.remove();
  if (outcome) {
    const what = there.shown.what || there.shown.text || '';
    const line = make('li', { 'data-name': name, text: `${outcome}: ${what.slice(0, 120)}` });
    find('done').prepend(line);
    if (mine.has(name)) mark(name);
    find('answered').hidden = false;
    find('news').textContent = outcome;
    while (find('done').children.length > 20) find('done').lastChild.remove();
  }
  if (had) (find('waiting').querySelector('button') || find('waiting-title')).focus();
  counted();
}

/** This page has answered it: the kernel tells of that before or after it says so to this page. */
function mark(name) {
  mine.add(name);
  const line = [...find('done').children].find(one => one.dataset.name === name);
  if (line && !line.querySelector('.here')) line.append(make('span', { class: 'here quiet', text: ' · from here' }));
}

function follow(kernel, shown) {
  const name = named(kernel, shown.turn);
  const there = turns.get(name);
  if (!['working', 'asking'].includes(shown.state)) {
    there?.card.remove();
    turns.delete(name);
  } else {
    const card = there?.card || turnCard(kernel, shown);
    card.querySelector('p').textContent = progress(kernel, shown);
    if (!there) find('turns').append(card);
    turns.set(name, { kernel, shown, card });
  }
  counted();
}

function counted() {
  find('nothing').hidden = waiting.size > 0;
  find('idle').hidden = turns.size > 0;
  document.title = waiting.size ? `(${waiting.size}) Hermes: what waits` : 'Hermes: what waits';
}

function said(outcome) {
  return outcome.said || (outcome.decision === 'unanswered' ? 'Not answered' : 'Answered');
}

function forget(kernel, why) {
  for (const [name, one] of [...waiting]) if (one.kernel === kernel) leave(name, why);
  for (const [name, one] of [...turns]) if (one.kernel === kernel) { one.card.remove(); turns.delete(name); }
  counted();
}

/** All that waits, as kernels told it when they were asked, at the time `since`. */
function whole(kernels, since) {
  const there = new Set();
  const states = new Map(kernels.map(({ kernel, state }) => [kernel, state]));
  for (const { kernel, notebook, ...told } of kernels) {
    notebooks.set(kernel, notebook);
    each(told.requests, shown => { there.add(named(kernel, shown.id)); take(kernel, 'request', shown); });
    each(told.questions, shown => { there.add(named(kernel, shown.id)); take(kernel, 'question', shown); });
    each(told.turns, shown => { there.add(named(kernel, shown.turn)); follow(kernel, shown); });
  }
  for (const [name, { kernel, heardAt }] of [...waiting]) {
    const state = states.get(kernel);
    if (!states.has(kernel)) leave(name, 'Its kernel has ended; nothing was run');
    else if (['answers', 'unloaded'].includes(state) && !there.has(name) && heardAt < since) leave(name, 'It does not wait any more');
  }
  for (const [name, one] of [...turns]) if (!there.has(name)) { one.card.remove(); turns.delete(name); }
  counted();
}

function hear(event, since) {
  switch (event.event) {
    case 'pending': return whole(event.kernels, since);
    case 'asked': return event.request ? take(event.kernel, 'request', event.request) : take(event.kernel, 'question', event.question);
    case 'answered': { const there = event.request || event.question; return leave(named(event.kernel, there.id), said(there.outcome)); }
    case 'turn': return follow(event.kernel, event.turn);
    case 'gone': return forget(event.kernel, 'Its kernel has ended; nothing was run');
    case 'restarted': return forget(event.kernel, 'Its kernel was started anew; nothing was run');
    case 'came': case 'ready': return refresh();
  }
}

// The server

function ask(path, about = {}) {
  const headers = { 'X-XSRFToken': xsrf, ...about.headers };
  return fetch(new URL(path, here), { credentials: 'same-origin', ...about, headers });
}

async function refresh() {
  const since = performance.now();
  try {
    const answer = await ask('api/pending');
    if (answer.ok) whole((await answer.json()).kernels, since);
  } catch (problem) {
    if (!(problem instanceof TypeError)) throw problem;
    // Not connected: what waits is told when the line is open again.
  }
}

// Of a login that has ended, a server says in words of its own that the token is wrong.
async function refusal(answer) {
  const told = await answer.json();
  if (answer.status === 403 && !(await ask('api/health')).ok) return LOGGED_OUT;
  return told.message.replace(/^[a-z]+: /, '');
}

async function send(card, status, kernel, what, body, done = () => {}) {
  const buttons = [...card.querySelectorAll('button')];
  buttons.forEach(button => { button.disabled = true; });
  status.textContent = 'Sending…';
  try {
    const answer = await ask(`api/kernels/${kernel}/${what}`, {
      method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' }
    });
    status.textContent = answer.ok ? 'Sent' : await refusal(answer);
    if (answer.ok) done();
    else if ([404, 409].includes(answer.status)) refresh();
  } catch {
    status.textContent = 'The server cannot be reached; whether it has got this is not known. If it still waits, answer again: it counts once.';
  } finally {
    buttons.forEach(button => { button.disabled = false; });
  }
}

function connect() {
  const address = new URL('api/events', here);
  address.protocol = address.protocol.replace('http', 'ws');
  const since = performance.now();
  const socket = new WebSocket(address);
  const state = find('connection');
  socket.onopen = () => {
    tries = 0;
    state.textContent = 'Connected';
    state.className = '';
  };
  socket.onmessage = message => each([JSON.parse(message.data)], event => hear(event, since));
  socket.onclose = async () => {
    const seconds = UNTIL_AGAIN[Math.min(tries++, UNTIL_AGAIN.length - 1)];
    state.textContent = `Not connected: what is shown may be old. Trying again in ${seconds} s`;
    state.className = 'lost';
    setTimeout(connect, seconds * 1000);
    const answer = await ask('api/health').catch(() => undefined); // not reached: said above
    if ([401, 403].includes(answer?.status)) state.textContent = LOGGED_OUT;
  };
}

connect();
