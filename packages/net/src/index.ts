export { classify } from "./address.ts";
export { createNet } from "./net.ts";
export { dnsResolver } from "./resolve.ts";
export { parseRetryAfter } from "./retry.ts";
export type {
  AddressClass,
  AddressKind,
  Answer,
  Blocked,
  CheckedUrl,
  Dial,
  FilteringProxy,
  Net,
  NetOptions,
  NetRequest,
  NetResponse,
  NetScope,
  Note,
  ProxyOptions,
  Resolve,
  Rule,
} from "./types.ts";
