// One container through its whole life: pull, configure, start, watch, restart with back-off,
// stop. Carries rules KUBELET8 to KUBELET11, KUBELET20 and KUBELET80.
import type { Clock, Timer } from "../env/clock.ts";
import { randomInteger } from "../env/random.ts";
import type { Random } from "../env/random.ts";
import type {
  Container,
  ContainerState,
  ContainerStatus,
  ResourceRequirements,
} from "../kube/generated/types.ts";
import { formatTime } from "../kube/time.ts";
import type { CommandContext, RunningCommand } from "../pod/container-command.ts";
import type { Program, ProgramContext, RunningProgram } from "../pod/container-program.ts";
import type { PodNetwork } from "../pod/network.ts";
import { expandVariables } from "./kubelet-environment.ts";
import type { Environment } from "./kubelet-environment.ts";
import type { ContainerFileView } from "./kubelet-files.ts";
import { isImageReference } from "./kubelet-images.ts";
import type { ContainerImage } from "./kubelet-images.ts";
import { LogRing } from "./kubelet-log-ring.ts";
import type { ContainerReport } from "./kubelet-status.ts";
import { terminationMessage } from "./kubelet-termination-message.ts";

export interface DelayRange {
  readonly min: number;
  readonly max: number;
}

export interface ImagePull {
  /** Until the image is on the node. */
  readonly leftMs: number;
  /** This request began the pull; others only wait for it. */
  readonly isNew: boolean;
}

/** What the pod offers to its containers. */
export interface ContainerHost {
  readonly clock: Clock;
  readonly random: Random;
  readonly podKey: string;
  readonly podUid: string;
  readonly startMs: DelayRange;
  readonly restartPolicy: string;
  readonly network: PodNetwork;
  pull(reference: string): ImagePull;
  /** It is on the node already. */
  keepImage(reference: string): void;
  findImage(reference: string): ContainerImage | undefined;
  environment(container: Container): { value: Environment } | { problem: string };
  files(container: Container, image: ContainerImage): ContainerFileView;
  /** Everything of the program's context that belongs to the pod. */
  programContext(
    container: Container,
  ): Omit<ProgramContext, "command" | "args" | "environment" | "files" | "writeLog" | "exit">;
  emit(type: "Normal" | "Warning", reason: string, message: string): void;
  onChange(container: ContainerRunner): void;
  onStarted(container: ContainerRunner): void;
  onStopped(container: ContainerRunner): void;
}

export interface ContainerStart {
  readonly isInit: boolean;
  readonly waitsFor: "PodInitializing" | "ContainerCreating";
  /** Counts on from before the kubelet or the node was restarted. */
  readonly restartCount: number;
  /** It runs already, or has done its work: what is said of it. */
  readonly recorded?: ContainerStatus;
}

const firstBackOffMs = 10_000;
const longestBackOffMs = 300_000;

export class ContainerRunner {
  readonly isInit: boolean;
  readonly logs = new LogRing();
  previousLogs: LogRing | undefined;
  readonly #host: ContainerHost;
  #container: Container;
  #state: ContainerState;
  #lastState: ContainerState = {};
  #restartCount: number;
  #isProbedReady: boolean;
  #program: RunningProgram | undefined;
  #files: ContainerFileView | undefined;
  /** Ends with the program, whatever ends it. */
  readonly #beside = new Set<() => void>();
  #timer: Timer | undefined;
  #incarnation = 0;
  #startedAtMs = 0;
  #backOffMs = 0;
  #pullBackOffMs = 0;
  #isStopped = false;
  #recorded: ContainerStatus | undefined;

  constructor(host: ContainerHost, container: Container, start: ContainerStart) {
    this.#host = host;
    this.#container = container;
    this.isInit = start.isInit;
    this.#restartCount = start.restartCount;
    this.#recorded = start.recorded;
    this.#state = { waiting: { reason: start.waitsFor } };
    this.#isProbedReady = container.readinessProbe === undefined;
  }

  get container(): Container {
    return this.#container;
  }

  /** An init container that keeps running beside the containers. */
  get isRestartable(): boolean {
    return this.isInit && this.container.restartPolicy === "Always";
  }

  /** The containers after it may start. */
  get hasInitialized(): boolean {
    return this.isRestartable ? this.#incarnation > 0 : this.exitCode === 0;
  }

  get isRunning(): boolean {
    return this.#state.running !== undefined;
  }

  get exitCode(): number | undefined {
    return this.#state.terminated?.exitCode;
  }

  /** It ended and will not be started again. */
  get isFinished(): boolean {
    return this.#state.terminated !== undefined && this.#timer === undefined;
  }

  report(): ContainerReport {
    const hasId = this.#incarnation > 0;
    return {
      ...(this.#isAsRecorded() ? { recorded: this.#recorded } : {}),
      name: this.container.name,
      image: this.container.image ?? "",
      isInit: this.isInit,
      state: this.#state,
      lastState: this.#lastState,
      restartCount: this.#restartCount,
      isInitialized: this.hasInitialized,
      isReady:
        this.isInit && !this.isRestartable
          ? this.exitCode === 0
          : this.isRunning && this.#isProbedReady,
      isStarted: this.isRunning,
      containerId: hasId
        ? `emulated://${this.#host.podUid}-${this.container.name}-${this.#restartCount}`
        : undefined,
    };
  }

  /** Whether it is still in the run, or past the end, that was recorded. */
  #isAsRecorded(): boolean {
    const state = this.#recorded?.state;
    if (state?.running !== undefined) return this.isRunning;
    return state?.terminated !== undefined && this.exitCode === state.terminated.exitCode;
  }

  begin(): void {
    if (this.#isStopped) return;
    const reference = this.container.image ?? "";
    if (!isImageReference(reference)) {
      const message = `Failed to apply default image tag "${reference}": couldn't parse image name`;
      return this.#wait("InvalidImageName", message);
    }
    const image = this.#host.findImage(reference);
    if (image === undefined) return this.#failPull(reference);
    // What runs already is only found again: without a pull, without a pause and without an event.
    if (this.#recorded !== undefined) {
      this.#host.keepImage(reference);
      return this.#later(0, () => this.#start(image));
    }
    const { leftMs, isNew } = this.#host.pull(reference);
    if (isNew) this.#host.emit("Normal", "Pulling", `Pulling image "${reference}"`);
    const { random, startMs } = this.#host;
    const delayMs = leftMs + randomInteger(random, startMs.min, startMs.max);
    this.#later(delayMs, () => {
      if (isNew) this.#host.emit("Normal", "Pulled", `Successfully pulled image "${reference}"`);
      this.#start(image);
    });
  }

  setProbedReady(isReady: boolean): void {
    if (this.#isProbedReady === isReady) return;
    this.#isProbedReady = isReady;
    this.#host.onChange(this);
  }

  /** Runs a command beside the program, with its environment and files; undefined while nothing runs. */
  exec(asked: Pick<CommandContext, "words" | "hasTerminal" | "write">): RunningCommand | undefined {
    const image = this.#host.findImage(this.container.image ?? "");
    const environment = this.#host.environment(this.container);
    const program = this.#program;
    if (!this.isRunning || program === undefined || this.#files === undefined) return undefined;
    if (image === undefined || "problem" in environment) return undefined;
    const { pod, nodeName, clock, runtime } = this.#host.programContext(this.container);
    const command = image.command({
      ...{ ...asked, pod, nodeName, clock, runtime, network: this.#host.network },
      environment: environment.value,
      files: this.#files.forCommands(runtime),
      processes: () => program.processes?.() ?? [],
    });
    void command.exited.then(this.onEnd(() => command.kill()));
    return command;
  }

  /** Calls back once when the present run has ended; returns what forgets it. */
  onEnd(ended: () => void): () => void {
    this.#beside.add(ended);
    return () => void this.#beside.delete(ended);
  }

  /** SIGTERM now, SIGKILL after the grace period; the container is not started again. */
  stop(graceMs: number): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#program === undefined) return;
    this.#later(graceMs, () => this.#kill());
    this.#program.terminate();
  }

  /** SIGKILL without a word: the node is gone. */
  destroy(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#program?.kill();
    this.#program = undefined;
    this.#files?.dispose();
    this.#incarnation += 1;
    this.#endBeside();
  }

  #endBeside(): void {
    for (const end of [...this.#beside]) end();
    this.#beside.clear();
  }

  /** Liveness failed: the container is stopped and starts again by its policy. */
  restart(graceMs: number): void {
    if (this.#program === undefined) return;
    this.#later(graceMs, () => this.#kill());
    this.#program.terminate();
  }

  /** Another image means another run, at once and whatever went wrong with the image before. */
  changeImage(image: string | undefined, graceMs: number): void {
    if (image === this.#container.image) return;
    this.#container = { ...this.#container, image };
    const isInitDone = this.isInit && !this.isRestartable && this.exitCode === 0;
    if (this.#isStopped || isInitDone) return;
    this.#backOffMs = 0;
    this.#pullBackOffMs = 0;
    if (this.#program !== undefined) {
      const message = `Container ${this.#container.name} definition changed, will be restarted`;
      this.#host.emit("Normal", "Killing", message);
      return this.restart(graceMs);
    }
    if (this.#timer !== undefined) this.begin();
  }

  /** Other resources: it goes on with them, unless its policy says that it starts again. */
  changeResources(resources: ResourceRequirements, isRestarted: boolean, graceMs: number): void {
    this.#container = { ...this.#container, resources };
    if (!isRestarted || this.#isStopped) return;
    const message = `Container ${this.#container.name} resize requires restart`;
    this.#host.emit("Normal", "Killing", message);
    this.restart(graceMs);
  }

  #start(image: ContainerImage): void {
    const { container } = this;
    const environment = this.#host.environment(container);
    if ("problem" in environment) {
      this.#host.emit("Warning", "Failed", `Error: ${environment.problem}`);
      this.#wait("CreateContainerConfigError", environment.problem);
      return this.#later(firstBackOffMs, () => this.begin());
    }
    const command = (container.command ?? []).map((word) =>
      expandVariables(word, environment.value),
    );
    const program = image.program(command);
    this.#incarnation += 1;
    if (program === undefined) return this.#failStart(command[0] ?? "");
    this.#run(program, command, environment.value, image);
  }

  #run(
    program: Program,
    command: readonly string[],
    environment: Environment,
    image: ContainerImage,
  ): void {
    const { clock } = this.#host;
    this.#startedAtMs = clock.nowMs();
    this.#state = { running: { startedAt: formatTime(this.#startedAtMs) } };
    this.#isProbedReady = this.container.readinessProbe === undefined;
    const incarnation = this.#incarnation;
    const files = this.#host.files(this.container, image);
    this.#files = files;
    let earlyExit: number | undefined;
    let isRunning = false;
    const exit = (code: number): void => {
      if (this.#incarnation !== incarnation) return;
      if (isRunning) this.#ended(code);
      else earlyExit ??= code;
    };
    const running = program({
      ...this.#host.programContext(this.container),
      command,
      args: (this.container.args ?? []).map((word) => expandVariables(word, environment)),
      environment,
      files,
      writeLog: (line) => this.logs.write(clock.nowMs(), line),
      exit,
    });
    isRunning = true;
    this.#program = running;
    if (this.#recorded === undefined) {
      this.#host.emit("Normal", "Started", `Started container ${this.container.name}`);
    }
    if (earlyExit !== undefined) return this.#ended(earlyExit);
    this.#host.onStarted(this);
    this.#host.onChange(this);
  }

  #kill(): void {
    this.#program?.kill();
    this.#ended(137);
  }

  #ended(code: number, startError?: string): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#incarnation += 1;
    this.#program = undefined;
    const { terminationMessagePath: path = "/dev/termination-log" } = this.container;
    const written = this.#files?.read(path);
    this.#files?.dispose();
    const nowMs = this.#host.clock.nowMs();
    const message =
      startError ?? terminationMessage(this.container, code, this.logs.lines(), written);
    this.#state = {
      terminated: {
        exitCode: code,
        reason: startError === undefined ? (code === 0 ? "Completed" : "Error") : "StartError",
        ...(message === undefined ? {} : { message }),
        startedAt: formatTime(this.#startedAtMs),
        finishedAt: formatTime(nowMs),
        containerID: this.report().containerId,
      },
    };
    this.#endBeside();
    const ranMs = nowMs - this.#startedAtMs;
    if (ranMs >= 2 * longestBackOffMs) this.#backOffMs = 0;
    this.#host.onStopped(this);
    if (!this.#isStopped && this.#mayRestart(code)) this.#restartLater();
    this.#host.onChange(this);
  }

  #mayRestart(code: number): boolean {
    if (this.isRestartable) return true;
    // An init container that succeeded has done its work, whatever the policy.
    if (this.isInit && code === 0) return false;
    switch (this.#host.restartPolicy) {
      case "Never":
        return false;
      case "OnFailure":
        return code !== 0;
      default:
        return true;
    }
  }

  /** The first restart is immediate; then the pause doubles from 10 s to 5 min. */
  #restartLater(): void {
    this.#recorded = undefined;
    const pauseMs = this.#backOffMs;
    this.#backOffMs = Math.min(longestBackOffMs, pauseMs === 0 ? firstBackOffMs : pauseMs * 2);
    const restart = (): void => {
      this.#lastState = this.#lastTerminated();
      this.#restartCount += 1;
      this.#rotateLogs();
      this.begin();
    };
    if (pauseMs === 0) return this.#later(0, restart);
    this.#lastState = this.#lastTerminated();
    const { name } = this.container;
    const [namespace, podName] = this.#host.podKey.split("/");
    const pod = `${podName}_${namespace}(${this.#host.podUid})`;
    const pause = describeSeconds(pauseMs / 1000);
    const message = `back-off ${pause} restarting failed container=${name} pod=${pod}`;
    const news = `Back-off restarting failed container ${name} in pod ${pod}`;
    this.#host.emit("Warning", "BackOff", news);
    this.#state = { waiting: { reason: "CrashLoopBackOff", message } };
    this.#later(pauseMs, restart);
  }

  #lastTerminated(): ContainerState {
    return this.#state.terminated === undefined ? this.#lastState : this.#state;
  }

  #rotateLogs(): void {
    this.previousLogs = this.logs.takeCopy();
  }

  #failPull(reference: string): void {
    const message = `failed to pull and unpack image "${reference}": not found`;
    this.#host.emit("Warning", "Failed", `Failed to pull image "${reference}": ${message}`);
    this.#wait("ErrImagePull", message);
    this.#pullBackOffMs = Math.min(longestBackOffMs, this.#pullBackOffMs * 2 || firstBackOffMs);
    const pauseMs = this.#pullBackOffMs;
    this.#later(pauseMs / 10, () => {
      this.#host.emit("Normal", "BackOff", `Back-off pulling image "${reference}"`);
      this.#wait("ImagePullBackOff", `Back-off pulling image "${reference}"`);
      this.#later(pauseMs - pauseMs / 10, () => this.begin());
    });
  }

  #failStart(name: string): void {
    const message = `exec: "${name}": executable file not found in $PATH`;
    this.#host.emit(
      "Warning",
      "Failed",
      `Error: failed to start container "${this.container.name}": ${message}`,
    );
    this.#startedAtMs = this.#host.clock.nowMs();
    this.#ended(128, message);
  }

  #wait(reason: string, message: string): void {
    this.#state = { waiting: { reason, message } };
    this.#host.onChange(this);
  }

  #later(delayMs: number, run: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#host.clock.setTimer(delayMs, () => {
      this.#timer = undefined;
      run();
    });
  }
}

/** As Go prints a duration: 10s, 40s, 1m20s, 5m0s. */
function describeSeconds(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds - 60 * minutes}s`;
}
