/** poll calls a function now and then again at intervals while the component is shown. Call it in an effect. */
export function poll(read: () => unknown, interval: number): () => void {
  void read();
  const timer = setInterval(() => void read(), interval);
  return () => clearInterval(timer);
}
