import type { ToolSchema } from "./tool.ts";

/**
 * The Standard Tool interface, declared here because the published types package (1.1.0) does not hold it yet.
 *
 * @see https://standardschema.dev
 */
export interface StandardToolV1<I = unknown, P = I, R = unknown, O = R> {
  readonly "~standard": StandardToolV1.Props<I, P, R, O>;
}

export declare namespace StandardToolV1 {
  interface Props<I = unknown, P = I, R = unknown, O = R> {
    readonly version: 1;
    readonly vendor: string;
    readonly name: string;
    readonly description: string;
    readonly inputSchema: ToolSchema<I, P>;
    readonly outputSchema: ToolSchema<R, O>;
    /** A method, not a property: otherwise no typed tool fits `AnyTool`. Rejects with `ToolError`. */
    execute(input: I): Promise<O>;
  }
}
