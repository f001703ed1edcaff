import { errorCode, ResponseError } from "./connection.ts";
import type { Json, ServerDefinition } from "./definition.ts";
import type { Registration, Registrations } from "./registrations.ts";

/** What a server's own requests may reach. */
export interface RequestSite {
  definition: ServerDefinition;
  settings: { [section: string]: Json };
  folders(): { uri: string; name: string }[];
  registrations: Registrations;
  /** A refresh: what was remembered of this kind is stale. */
  refreshed(method: string): void;
  /** A message for people, to be shown with the next answer. */
  message(text: string): void;
  applyEdit(params: unknown): Promise<{ applied: boolean; failureReason?: string }>;
  /** Requests of a bridge; `undefined` when no bridge knows the method. */
  bridge(method: string, params: unknown): Promise<unknown> | undefined;
}

/** Answers a request of the server; every one gets an answer. @throws ResponseError for what nobody knows */
export async function answerRequest(site: RequestSite, method: string, params: unknown): Promise<unknown> {
  const fields = (typeof params === "object" && params !== null ? params : {}) as Record<string, unknown>;
  switch (method) {
    case "workspace/configuration":
      return listOf(fields.items).map((item) => configurationValue(site.settings, item));
    case "client/registerCapability":
      site.registrations.add(registrationsOf(fields.registrations));
      return null;
    case "client/unregisterCapability":
      // the protocol's own spelling of the field
      site.registrations.remove(listOf(fields.unregisterations ?? fields.unregistrations) as { id: string }[]);
      return null;
    case "workspace/workspaceFolders":
      return site.folders();
    case "window/workDoneProgress/create":
      return null;
    case "window/showMessageRequest":
      if (typeof fields.message === "string") site.message(fields.message);
      return null;
    case "window/showDocument":
      if (typeof fields.uri === "string") site.message(`wants to show ${fields.uri}`);
      return { success: true };
    case "workspace/applyEdit":
      return site.applyEdit(params);
  }
  if (/^workspace\/.*\/refresh$/.test(method)) {
    site.refreshed(method);
    return null;
  }
  const bridged = site.bridge(method, params);
  if (bridged !== undefined) return bridged;
  const answers = site.definition.answers ?? {};
  for (const [pattern, value] of Object.entries(answers)) {
    const hit = pattern.endsWith("*") ? method.startsWith(pattern.slice(0, -1)) : method === pattern;
    if (hit) return value;
  }
  throw new ResponseError(errorCode.methodNotFound, `this client does not know ${method}`);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function registrationsOf(value: unknown): Registration[] {
  return listOf(value).flatMap((one) => {
    if (typeof one !== "object" || one === null) return [];
    const { id, method, registerOptions } = one as Record<string, unknown>;
    if (typeof id !== "string" || typeof method !== "string") return [];
    return [{ id, method, options: (registerOptions ?? {}) as Record<string, unknown> }];
  });
}

/** One value of `workspace/configuration`: dotted sections are looked up, `""` or none is the whole, unknown is null. */
function configurationValue(settings: { [section: string]: Json }, item: unknown): Json {
  const section = (item as { section?: unknown } | null)?.section;
  if (section === undefined || section === null || section === "") return settings[""] ?? settings;
  if (typeof section !== "string") return null;
  if (section in settings) return settings[section] ?? null;
  let value: Json | undefined = settings;
  for (const part of section.split(".")) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    value = value[part];
  }
  return value ?? null;
}
