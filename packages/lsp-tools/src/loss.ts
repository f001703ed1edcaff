/** Why a server is gone. */
export interface Loss {
  reason: string;
  code: number | null;
  signal: string | null;
  stderr: string;
}

/** The server ended, or its stream broke, before it answered. */
export class ServerLost extends Error {
  override readonly name = "ServerLost";
  readonly loss: Loss;
  constructor(id: string, loss: Loss) {
    super(describeLoss(id, loss));
    this.loss = loss;
  }
}

export function describeLoss(id: string, loss: Loss): string {
  const how = loss.signal ? `signal ${loss.signal}` : loss.code === null ? loss.reason : `exit code ${loss.code}`;
  const tail = loss.stderr.trim();
  return `${id} ended (${how})${tail ? `: ${tail}` : ""}`;
}

/** The same without the name. */
export function lossWords(loss: Loss): string {
  const how = loss.signal ? `ended by ${loss.signal}` : loss.code === null ? loss.reason : `exit code ${loss.code}`;
  const tail = loss.stderr.trim();
  return tail ? `${how}: ${tail}` : how;
}
