/** The little of jsdom that the benches use: its own types would bring the browser's globals into every file. */
declare module "jsdom" {
  export class VirtualConsole {}
  export class JSDOM {
    constructor(html: string, options: { url: string; virtualConsole: VirtualConsole });
    readonly window: {
      readonly document: ConstructorParameters<typeof import("@mozilla/readability").Readability>[0];
      close(): void;
    };
  }
}
/** The little of peers without types of their own that the benches use. */
declare module "unfluff" {
  export default function unfluff(html: string): { text: string; title: string; author: string[]; date?: string };
}
declare module "@joplin/turndown-plugin-gfm" {
  export const gfm: import("turndown").Plugin;
}
declare module "turndown" {
  export default class TurndownService {
    constructor(options?: Readonly<Record<string, string>>);
    use(plugin: unknown): this;
    turndown(html: string): string;
  }
  export type Plugin = (service: TurndownService) => void;
}
