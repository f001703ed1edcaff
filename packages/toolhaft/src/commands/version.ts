import { isToolError } from "@toolhaft/core";
import manifest from "../../package.json" with { type: "json" };

/** One line for a report: this program, its Node, and what opens databases here. */
export async function versionLine(): Promise<string> {
  return `toolhaft ${manifest.version}, Node ${process.version}, ${await driverName()}`;
}

async function driverName(): Promise<string> {
  const { openMemoryDatabase } = await import("@toolhaft/sqlite");
  try {
    await using database = await openMemoryDatabase({ family: "version", migrations: [] });
    return database.driver;
  } catch (error) {
    if (isToolError(error) && error.code === "unavailable") return "no SQLite driver";
    throw error;
  }
}
