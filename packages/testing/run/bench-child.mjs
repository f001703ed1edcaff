// One bench file in its own process; the report goes to the parent, whatever the bench prints goes to stderr.
import { pathToFileURL } from "node:url";

const [, , file, ...flags] = process.argv;
let message;
try {
  const { default: bench } = await import(pathToFileURL(file).href);
  if (typeof bench?.run !== "function") throw new Error("the default export is not a defineBench(…)");
  message = await bench.run(flags);
} catch (error) {
  console.error(error);
  message = { error: String(error?.message ?? error) };
}
process.send(message, () => process.exit(message.error === undefined ? 0 : 1));
