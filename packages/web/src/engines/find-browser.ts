import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { ToolError } from "@toolhaft/core";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "msedge", "microsoft-edge"];
const otherPlaces: Readonly<Record<string, readonly string[]>> = {
  darwin: [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
  ],
  win32: [
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe",
  ],
};
const installLine: Readonly<Record<string, string>> = {
  linux: "install one with `apt-get install chromium`",
  darwin: "install one with `brew install --cask chromium`",
  win32: "install Chrome or Edge",
};

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * The browser to start: the one named, else `CHROMIUM_PATH`, else the first on the path.
 *
 * @throws ToolError `unavailable` with the line that installs one
 */
export async function findBrowser(
  given: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  platform: string,
): Promise<string> {
  const hint = `${installLine[platform] ?? "install Chromium"}, or set createWeb({ browser: { executablePath } }) or CHROMIUM_PATH`;
  const named = given ?? (env.CHROMIUM_PATH || undefined);
  if (named !== undefined) {
    if (await isProgram(named)) return named;
    throw new ToolError("unavailable", `there is no browser at ${named}`, { hint });
  }
  const suffix = platform === "win32" ? ".exe" : "";
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const places = [
    ...names.flatMap((name) => folders.map((folder) => join(folder, name + suffix))),
    ...(otherPlaces[platform] ?? []),
  ];
  for (const place of places) if (await isProgram(place)) return place;
  throw new ToolError("unavailable", "no Chromium, Chrome or Edge was found", { hint });
}
