/**
 * All agents of all kernels, as far as this page knows of them, and what a person can do.
 */

import { Session } from '@jupyterlab/services';
import { JSONObject, Token } from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';

import { Declined } from './control';
import { Kernels, ISaid } from './kernels';
import { Choice, IApproval, IQuestion, ITurn, outcomeOf, Waiting } from './protocol';
import { LineState } from './server';
import {
  answered,
  ended,
  happened,
  IItem,
  IState,
  NOTHING,
  told,
  tried,
  without
} from './state';

/** What this page's answers say of where they come from. */
const BY = 'panel';

/** How long what was answered is still shown, in ms. */
const LINGERS = 5_000;

/** The agents of one kernel. */
export interface IKernelAgents extends IState {
  kernel: string;
  /** What it is the kernel of, for people. */
  name: string;
  /** Of the notebook; empty if there is none. */
  path: string;
  /** Can it be answered now? */
  isConnected: boolean;
}

/** A kernel asks something new. */
export interface IAsked {
  kernel: string;
  waiting: Waiting;
}

/** What an answer to a call may bring with it. */
export interface IMore {
  /** For the model. */
  note?: string;
  /** Instead of what was asked for. */
  edited?: string;
}

export interface IAgents {
  readonly changed: ISignal<IAgents, void>;
  readonly asked: ISignal<IAgents, IAsked>;
  /** Those of which something is known. */
  readonly kernels: readonly IKernelAgents[];
  /** How many wait for a person. */
  readonly count: number;
  /** Is the server there, which tells of kernels without a notebook in this page? */
  readonly line: LineState;
  /** @throws Declined */
  answer(kernel: string, approval: IApproval, choice: Choice, more?: IMore): Promise<void>;
  /** @throws Declined */
  reply(kernel: string, question: IQuestion, text: string | null): Promise<void>;
  /**
   * Say something to the agent of a turn; it reads it at its next step.
   *
   * @returns whether this turn will still read it; else it is for the next one
   * @throws Declined
   */
  say(kernel: string, turn: ITurn, text: string): Promise<boolean>;
  /** @throws Declined */
  stop(kernel: string, turn: ITurn): Promise<void>;
}

export const IAgents = new Token<IAgents>(
  'hermes-jupyter-labextension:IAgents',
  'What the agents of all kernels do, and what they wait for.'
);

export class Agents implements IAgents {
  constructor(
    private readonly watched: Kernels,
    private readonly sessions: Session.IManager
  ) {
    watched.said.connect(this.hear, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get asked(): ISignal<this, IAsked> {
    return this._asked;
  }

  get kernels(): readonly IKernelAgents[] {
    return Array.from(this.states, ([kernel, state]) => ({
      kernel,
      ...state,
      ...this.about(kernel),
      isConnected: this.watched.reaches(kernel)
    }));
  }

  get count(): number {
    return Array.from(this.states.values()).flatMap(open).length;
  }

  get line(): LineState {
    return this.watched.line;
  }

  async answer(
    kernel: string,
    { id, digest }: IApproval,
    choice: Choice,
    { note = '', edited }: IMore = {}
  ): Promise<void> {
    await this.settle(kernel, id, {
      do: 'answer',
      request: id,
      digest,
      choice,
      note,
      edited: edited ?? null,
      by: BY
    });
  }

  async reply(
    kernel: string,
    { id, digest }: IQuestion,
    text: string | null
  ): Promise<void> {
    await this.settle(kernel, id, { do: 'reply', question: id, digest, text, by: BY });
  }

  async say(kernel: string, { turn }: ITurn, text: string): Promise<boolean> {
    const { read_by_turn: isRead } = await this.watched.ask(kernel, {
      do: 'say',
      turn,
      text
    });
    return isRead === true;
  }

  async stop(kernel: string, { turn }: ITurn): Promise<void> {
    await this.watched.ask(kernel, { do: 'stop', turn });
  }

  /** Answer; where the page was behind, it catches up. */
  private async settle(kernel: string, id: string, content: JSONObject): Promise<void> {
    try {
      const { outcome } = await this.watched.ask(kernel, content);
      const known = outcomeOf(outcome ?? null);
      this.set(kernel, state => tried(answered(state, id, known), id, true));
      this.fade(kernel, id);
    } catch (problem) {
      if (problem instanceof Declined && problem.code === 'silent') {
        this.set(kernel, state => tried(state, id, undefined));
      }
      void this.watched.look(kernel);
      throw problem;
    }
  }

  private hear(_: Kernels, { kernel, heard }: ISaid): void {
    switch (heard.kind) {
      case 'pending':
        this.learn(kernel, state => told(state, heard.pending, heard.since));
        break;
      case 'event':
        this.learn(kernel, state => happened(state, heard.event));
        break;
      case 'gone':
        this.set(kernel, ended).items.forEach(({ waiting }) =>
          this.fade(kernel, waiting.id)
        );
        break;
      default:
        this._changed.emit();
    }
  }

  private learn(kernel: string, change: (state: IState) => IState): void {
    const before = this.states.get(kernel) ?? NOTHING;
    const after = this.set(kernel, change);
    const known = new Set(open(before).map(({ waiting }) => waiting.digest));
    for (const { waiting } of open(after)) {
      if (!known.has(waiting.digest)) {
        this._asked.emit({ kernel, waiting });
      }
    }
    after.items
      .filter(({ waiting, outcome }) => outcome && known.has(waiting.digest))
      .forEach(({ waiting }) => this.fade(kernel, waiting.id));
  }

  private set(kernel: string, change: (state: IState) => IState): IState {
    const state = change(this.states.get(kernel) ?? NOTHING);
    if (state.items.length + state.turns.length > 0) {
      this.states.set(kernel, state);
    } else {
      this.states.delete(kernel);
    }
    this._changed.emit();
    return state;
  }

  /** What was answered is seen for a moment. */
  private fade(kernel: string, id: string): void {
    window.setTimeout(() => this.set(kernel, state => without(state, id)), LINGERS);
  }

  private about(kernel: string): { name: string; path: string } {
    for (const session of this.sessions.running()) {
      if (session.kernel?.id === kernel) {
        return { name: session.name || session.path, path: session.path };
      }
    }
    const path = this.watched.notebook(kernel);
    return { name: path || kernel.slice(0, 8), path };
  }

  private readonly states = new Map<string, IState>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _asked = new Signal<this, IAsked>(this);
}

function open(state: IState): IItem[] {
  return state.items.filter(({ outcome }) => outcome === null);
}
