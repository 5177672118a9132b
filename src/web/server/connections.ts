// How many connections there may be at a time. For one more than that the one is closed that nobody has used for longest: whoever
// opens many and asks nothing locks nobody out, and what is under way goes on. Rules: spec/web.md [WEB26].
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Of a server that takes no more than so many at a time. */
export function limitConnections(server: Server, most: number): void {
  /** Requests under way on each; the idle ones in the order of their last use. */
  const underWay = new Map<Socket, number>();
  const note = (socket: Socket, count: number): void => {
    if (!underWay.delete(socket)) return;
    underWay.set(socket, count);
  };
  server.on("connection", (socket) => {
    if (underWay.size >= most) {
      const [idle] = [...underWay].find(([, count]) => count === 0) ?? [];
      if (idle === undefined) {
        socket.destroy();
        return;
      }
      underWay.delete(idle);
      idle.destroy();
    }
    underWay.set(socket, 0);
    socket.once("close", () => underWay.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    note(socket, (underWay.get(socket) ?? 0) + 1);
    response.once("close", () => note(socket, Math.max(0, (underWay.get(socket) ?? 1) - 1)));
  });
}
