import type { Call, Message } from './messages.ts';

/** What mini-swe-agent puts before the output of a command. */
const ANSWER = /^\s*<returncode>-?\d+<\/returncode>/;
const OPENING = /^[ \t]*```(bash|sh|shell|mswea_bash_command)[ \t]*$/;
const CLOSING = /^[ \t]*```[ \t]*$/;
const SHAPE = '```bash';

/** Whether commands in this conversation were run, and are not just shown to the reader. */
export function runsFencedCommands(messages: readonly Message[]): boolean {
  return messages.some((m) => m.role === 'user' && answered(m));
}

/**
 * Commands that stand in a fenced block, as mini-swe-agent logs them: a message with exactly one block is a
 * call, named as the block is, with {command}; what the user says next is its answer. With none or several
 * blocks nothing is run, unless a `<returncode>` follows all the same: then the calls are not known.
 */
export function withFencedCommands(messages: readonly Message[]): readonly Message[] {
  let open = false;
  return messages.map((message, i) => {
    if (message.role === 'assistant') {
      const calls = blocks(message.text ?? '');
      const next = messages[i + 1];
      open = calls.length === 1;
      if (open) return { ...message, calls };
      return next?.role === 'user' && answered(next) ? { ...message, unread: SHAPE } : message;
    }
    if (!open || message.role !== 'user') return message;
    open = false;
    const text = message.text ?? '';
    return { ...message, results: [{ id: null, name: null, text, error: null, observed: false }] };
  });
}

function answered({ text }: Message): boolean {
  return text !== null && ANSWER.test(text);
}

/** Blocks that are closed, line by line: one pass, whatever the text. */
function blocks(text: string): Call[] {
  const calls: Call[] = [];
  let name: string | undefined;
  let command: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (name === undefined) {
      name = OPENING.exec(line)?.[1];
      command = [];
    } else if (CLOSING.test(line)) {
      calls.push({ id: null, name, arguments: { command: command.join('\n') } });
      name = undefined;
    } else command.push(line);
  }
  return calls;
}
