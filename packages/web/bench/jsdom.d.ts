/** The little of jsdom that the benches use: its own types would bring the browser's globals into every file. */
declare module "jsdom" {
  export class VirtualConsole {}
  export class JSDOM {
    constructor(html: string, options: { url: string; virtualConsole: VirtualConsole });
    readonly window: { readonly document: ConstructorParameters<typeof import("@mozilla/readability").Readability>[0] };
  }
}
