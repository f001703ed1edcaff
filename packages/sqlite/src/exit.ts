/**
 * Handles to close when the process ends. It is the one thing here that belongs to the process and not to a database:
 * a listener per handle would pass Node's limit of ten and print a warning.
 */
const open = new Set<() => void>();

export function closeOnExit(close: () => void): () => void {
  if (open.size === 0) process.on("exit", closeAll);
  open.add(close);
  return () => {
    open.delete(close);
    if (open.size === 0) process.off("exit", closeAll);
  };
}

function closeAll(): void {
  for (const close of [...open]) close();
}
