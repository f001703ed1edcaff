export type { ChildExit, ChildHandle, OutputTarget, StartOptions } from "./child.ts";
export { childEnvironment, type EnvironmentOptions, inheritedVariables, isSecretName } from "./environment.ts";
export { identify, isRunning, type ProcessIdentity } from "./identity.ts";
export { createProcessHost, type ProcessHost } from "./process-host.ts";
export { type RunOptions, type RunResult, runProgram } from "./run.ts";
export { createTail, type Tail } from "./tail.ts";
export { descendants, groupIsAlive, type StopOptions, stopTree } from "./tree.ts";
export { createWatchdog, type Watchdog, type WatchdogOptions } from "./watchdog.ts";
