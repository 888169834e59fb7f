// Reads calls from standard input, one JSON array per line, makes them with hearth.ts, and prints the results. With the
// argument "follow" it prints each event of the account.

import { createInterface } from "node:readline";
import { inspect } from "node:util";
import { follow, Hearth, HearthError, type Token } from "./hearth";

let hearth: Hearth | undefined;
let last: Token;

async function answer([call, ...words]: string[]): Promise<unknown> {
  hearth ??= await Hearth.connect();
  switch (call) {
    case "token":
      last = await hearth.getToken("work", { url: words[0] || undefined });
      return {
        token: last.accessToken, authorization: last.authorization, fingerprint: last.fingerprint,
        printed: inspect(last, { showHidden: true }) + JSON.stringify(last),
      };
    case "request": {
      const body = words[2] ? Buffer.from(words[2]) : undefined;
      const { status, body: content } = await hearth.request("work", words[0], words[1], body);
      return { status, body: content.toString() };
    }
    case "report":
      await hearth.reportUnauthorized("work", last);
      return null;
  }
}

async function main(): Promise<void> {
  if (process.argv[2]) {
    for await (const { method, ...params } of follow("work")) console.log(JSON.stringify({ method, params }));
  }
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      console.log(JSON.stringify(await answer(JSON.parse(line))));
    } catch (error) {
      if (!(error instanceof HearthError)) throw error;
      const { message, kind, retryable, action } = error;
      if (kind === undefined) hearth = undefined;
      console.log(JSON.stringify({ error: { message, data: { kind, retryable, action } } }));
    }
  }
  hearth?.close();
}

main();
