// One of several processes that write rows into one file. It begins when it is told to, and says how many it wrote.
import { openDatabase } from "../src/index.ts";
import { schema } from "./schema.ts";

const [path = "", count = "0"] = process.argv.slice(2);
const db = await openDatabase({ path, family: "bench", migrations: schema, busyTimeoutMs: 120_000 });
process.once("message", async () => {
  for (let n = 0; n < Number(count); n++)
    await db.write(() => db.run("INSERT INTO rows(text) VALUES(?)", [`row ${n} of ${process.pid}`]));
  db.close();
  process.send?.({ done: Number(count) }, () => process.disconnect());
});
process.send?.({ ready: true });
