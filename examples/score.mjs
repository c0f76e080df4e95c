// node score.mjs scoring.jsonl http://localhost:8000/v1 MODEL > scores.jsonl, for a server that gives prompt_logprobs (vLLM does)
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
const [file, server, model] = process.argv.slice(2);
const headers = { 'content-type': 'application/json', authorization: `Bearer ${process.env.OPENAI_API_KEY ?? 'none'}` };
const ask = async (messages, more) => {
  const answer = await fetch(`${server}/chat/completions`, { method: 'POST', headers, body: JSON.stringify({ model, messages, max_tokens: 1, ...more }) });
  if (!answer.ok) throw new Error(`${server} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
};
for await (const line of createInterface({ input: createReadStream(file) })) {
  const { episode_id, messages, turns } = JSON.parse(line);
  for (const { turn, message } of turns) {
    const { usage } = await ask(messages.slice(0, message), {}); // its tokens are the context
    const whole = { add_generation_prompt: false, continue_final_message: !messages[message].tool_calls, prompt_logprobs: 0 };
    const { prompt_logprobs } = await ask(messages.slice(0, message + 1), whole);
    const logprob = prompt_logprobs.slice(usage.prompt_tokens).reduce((sum, token) => sum + Object.values(token)[0].logprob, 0);
    console.log(JSON.stringify({ policy: model, trained_on: 'unknown', episode_id, turn, logprob, logprob_kind: 'raw' }));
  }
}
