// Lists what waits in all kernels, and answers it. All text of others goes in as text, never as
// HTML. An answer brings back the digest of what was shown; nothing is ever answered twice or by
// itself.

const xsrf = document.querySelector('meta[name=xsrf]').content;
const here = new URL('.', document.location);
const waiting = new Map(); // id -> {kernel, shown, kind, card}
const turns = new Map(); // id -> {kernel, shown, card}
const notebooks = new Map(); // kernel -> path
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

function where(kernel) {
  return notebooks.get(kernel) || `kernel ${kernel.slice(0, 8)}`;
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
  for (const line of text.split('\n')) {
    const kind = line.startsWith('+') ? 'plus' : line.startsWith('-') ? 'minus' : '';
    listing.append(make('span', { class: kind, text: `${line}\n` }));
  }
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
    request: shown.id, digest: shown.digest, ...more
  });
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
    'aria-label': 'Your answer', type: shown.secret ? 'password' : 'text', autocomplete: 'off'
  });
  const reply = text => send(card, said, kernel, 'reply', { question: shown.id, digest: shown.digest, text });
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

// What kernels tell

function take(kernel, kind, shown) {
  if (waiting.has(shown.id)) return;
  const card = kind === 'request' ? requestCard(kernel, shown) : questionCard(kernel, shown);
  waiting.set(shown.id, { kernel, kind, shown, card });
  find('waiting').append(card);
  find('news').textContent = kind === 'request' ? `${shown.tool} asks for approval` : 'A question waits for you';
  counted();
}

function leave(id, outcome) {
  const there = waiting.get(id);
  if (!there) return;
  waiting.delete(id);
  const had = there.card.contains(document.activeElement);
  there.card.remove();
  if (outcome) {
    const what = there.shown.what || there.shown.text || '';
    const line = make('li', { text: `${outcome}: ${what.slice(0, 120)}` });
    find('done').prepend(line);
    find('answered').hidden = false;
    find('news').textContent = outcome;
    while (find('done').children.length > 20) find('done').lastChild.remove();
  }
  if (had) (find('waiting').querySelector('button') || find('waiting-title')).focus();
  counted();
}

function follow(kernel, shown) {
  const there = turns.get(shown.turn);
  if (!['working', 'asking'].includes(shown.state)) {
    there?.card.remove();
    turns.delete(shown.turn);
  } else {
    const card = there?.card || turnCard(kernel, shown);
    card.querySelector('p').textContent = progress(kernel, shown);
    if (!there) find('turns').append(card);
    turns.set(shown.turn, { kernel, shown, card });
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
  for (const [id, each] of [...waiting]) if (each.kernel === kernel) leave(id, why);
  for (const [id, each] of [...turns]) if (each.kernel === kernel) { each.card.remove(); turns.delete(id); }
  counted();
}

function whole(kernels) {
  const ids = new Set();
  for (const each of kernels) {
    notebooks.set(each.kernel, each.notebook);
    for (const shown of each.requests) { ids.add(shown.id); take(each.kernel, 'request', shown); }
    for (const shown of each.questions) { ids.add(shown.id); take(each.kernel, 'question', shown); }
    for (const shown of each.turns) { ids.add(shown.turn); follow(each.kernel, shown); }
  }
  for (const id of [...waiting.keys()]) if (!ids.has(id)) leave(id, 'It does not wait any more');
  for (const [id, each] of [...turns]) if (!ids.has(id)) { each.card.remove(); turns.delete(id); }
  counted();
}

function hear(event) {
  switch (event.event) {
    case 'pending': return whole(event.kernels);
    case 'asked': return event.request ? take(event.kernel, 'request', event.request) : take(event.kernel, 'question', event.question);
    case 'answered': { const there = event.request || event.question; return leave(there.id, said(there.outcome)); }
    case 'turn': return follow(event.kernel, event.turn);
    case 'gone': return forget(event.kernel, 'Its kernel has ended; nothing was run');
    case 'restarted': return forget(event.kernel, 'Its kernel was started anew; nothing was run');
    case 'came': case 'ready': return refresh();
  }
}

// The server

async function refresh() {
  const answer = await fetch(new URL('api/pending', here), { credentials: 'same-origin' });
  if (answer.ok) whole((await answer.json()).kernels);
}

async function send(card, status, kernel, what, body, done = () => {}) {
  const buttons = [...card.querySelectorAll('button')];
  buttons.forEach(button => { button.disabled = true; });
  status.textContent = 'Sending…';
  try {
    const answer = await fetch(new URL(`api/kernels/${kernel}/${what}`, here), {
      method: 'POST', credentials: 'same-origin', body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', 'X-XSRFToken': xsrf }
    });
    const told = await answer.json();
    status.textContent = answer.ok ? 'Sent' : told.message.replace(/^[a-z]+: /, '');
    if (answer.ok) done();
    else if ([404, 409].includes(answer.status)) refresh();
  } catch {
    status.textContent = 'The server cannot be reached; whether it has got this is not known.';
  } finally {
    buttons.forEach(button => { button.disabled = false; });
  }
}

function connect() {
  const address = new URL('api/events', here);
  address.protocol = address.protocol.replace('http', 'ws');
  const socket = new WebSocket(address);
  const state = find('connection');
  socket.onopen = () => {
    tries = 0;
    state.textContent = 'Connected';
    state.className = '';
  };
  socket.onmessage = message => hear(JSON.parse(message.data));
  socket.onclose = () => {
    const seconds = UNTIL_AGAIN[Math.min(tries++, UNTIL_AGAIN.length - 1)];
    state.textContent = `Not connected: what is shown may be old. Trying again in ${seconds} s`;
    state.className = 'lost';
    setTimeout(connect, seconds * 1000);
  };
}

connect();
