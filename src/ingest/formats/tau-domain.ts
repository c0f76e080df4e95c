import { open } from 'node:fs/promises';
import type { RecordContext } from '../log-format.ts';
import { type Fields, field, isFields, stem } from './fields.ts';
import type { Message } from './messages.ts';

/** Tools that only one domain has, in tau-bench and tau2-bench. */
const TOOLS: Readonly<Record<string, RegExp>> = {
  airline:
    /^(\w*reservation\w*|search_(direct|onestop)_flight|list_all_airports|send_certificate|get_flight_status)$/,
  retail:
    /^(\w*(pending|delivered)_order\w*|get_(order|product|item)_details|list_all_product_types|modify_user_address|find_user_id_by_name_zip)$/,
  telecom:
    /^(get_customer_by_\w+|get_bills_for_customer|get_data_usage|(suspend|resume)_line|(enable|disable)_roaming|refuel_data|send_payment_request)$/,
};
/** The head of a domain's policy, which is the system prompt: "# Airline Agent Policy", "As a retail agent, you can …". */
const HEADING = /^#+ *([a-z][\w-]*) +(?:customer +service +)?agent +policy/im;
const ROLE = /\b(airline|retail|telecom)(?: customer service)? agent\b/i;
const NAMED = /(?:^|[^a-z])(airline|retail|telecom)(?:[^a-z]|$)/i;
/** Where a log or its harness may name the domain. */
const FIELDS = ['domain', 'env', 'env_name', 'domain_name'];
const HEAD_BYTES = 4 << 20;

/**
 * The domain of a run, whose task numbers start over in every one: from the run itself (a field, the system prompt,
 * the names of tools), else from the other runs at the start of its file, else from the file's name; null: nothing says.
 */
export async function domainOf(
  run: Fields,
  info: Fields,
  messages: readonly Message[],
  context: RecordContext,
): Promise<string | null> {
  return (
    fromFields(run) ??
    fromFields(info) ??
    fromPrompt(messages.find((m) => m.role === 'system')?.text ?? '') ??
    fromTools(messages.flatMap((m) => m.calls.map((c) => c.name))) ??
    fromTools(goldTools(info)) ??
    (await fromFile(context)) ??
    NAMED.exec(stem(context.path))?.[1]?.toLowerCase() ??
    null
  );
}

function fromFields(fields: Fields): string | null {
  for (const name of FIELDS) {
    const value = field(fields, name);
    const text = isFields(value) ? (field(value, 'domain_name') ?? field(value, 'name')) : value;
    if (typeof text === 'string' && /^[\w-]+$/.test(text)) return domainName(text);
  }
  return null;
}

/** MockAirlineDomainEnv, as tau-bench names its environments, is airline. */
function domainName(text: string): string {
  return (
    text
      .replace(/^Mock(?=[A-Z])/, '')
      .replace(/Domain(Env)?$|Env$/, '')
      .toLowerCase() || text
  );
}

function fromPrompt(prompt: string): string | null {
  return (HEADING.exec(prompt) ?? ROLE.exec(prompt))?.[1]?.toLowerCase() ?? null;
}

function fromTools(names: readonly string[]): string | null {
  for (const [domain, tools] of Object.entries(TOOLS))
    if (names.some((name) => tools.test(name))) return domain;
  return null;
}

/** Names only, not what they are called with: a domain is no answer. */
function goldTools(info: Fields): string[] {
  const task = field(info, 'task');
  const actions = isFields(task) ? field(task, 'actions') : undefined;
  if (!Array.isArray(actions)) return [];
  return actions.flatMap((a) => {
    const name = isFields(a) ? field(a, 'name') : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}

/** A run that crashed at once says nothing; those beside it do. */
function fromFile({ path, memo }: RecordContext): Promise<string | null> {
  const key = `tau-bench domain ${path}`;
  let found = memo.get(key) as Promise<string | null> | undefined;
  if (found === undefined) memo.set(key, (found = read()));
  return found;

  async function read(): Promise<string | null> {
    const text = path === '-' ? '' : await headOf(path);
    for (const [, content] of text.matchAll(/"content": ?"((?:[^"\\]|\\.){0,4000})/g)) {
      const domain = fromPrompt(content!.replaceAll('\\n', '\n'));
      if (domain !== null) return domain;
    }
    return fromTools([...text.matchAll(/"name": ?"(\w+)"/g)].map(([, name]) => name!));
  }
}

async function headOf(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
