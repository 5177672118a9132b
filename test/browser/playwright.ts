// The parts of playwright that these tests use, as types: it is installed when they first run, while types and lint are
// checked without it.

export interface Browser {
  version(): string;
  newContext(options?: ContextOptions): Promise<BrowserContext>;
  close(): Promise<void>;
}

export interface ContextOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly deviceScaleFactor?: number;
  readonly colorScheme?: "dark" | "light";
  readonly reducedMotion?: "reduce" | "no-preference";
}

export interface BrowserContext {
  setDefaultTimeout(timeoutMs: number): void;
  newPage(): Promise<Page>;
  newCDPSession(page: Page): Promise<DevtoolsSession>;
  close(): Promise<void>;
}

export interface DevtoolsSession {
  send(method: string, parameters?: unknown): Promise<unknown>;
}

export interface Page {
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  goto(url: string): Promise<unknown>;
  url(): string;
  title(): Promise<string>;
  evaluate(script: string): Promise<unknown>;
  evaluate<Result, Argument = undefined>(
    run: (argument: Argument) => Result | Promise<Result>,
    argument?: Argument,
  ): Promise<Result>;
  waitForFunction<Argument = undefined>(
    isSo: (argument: Argument) => unknown,
    argument?: Argument,
    options?: { readonly timeout?: number; readonly polling?: number },
  ): Promise<unknown>;
  getByRole(role: string, options?: { readonly name?: string | RegExp }): Locator;
  getByText(text: string | RegExp): Locator;
  locator(selector: string, options?: { readonly hasText?: string | RegExp }): Locator;
  screenshot(options: {
    readonly path: string;
    readonly fullPage?: boolean;
    readonly type?: "png" | "jpeg";
  }): Promise<unknown>;
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>;
  emulateMedia(options: { readonly colorScheme?: "dark" | "light" }): Promise<void>;
  on(event: "console", heard: (message: ConsoleMessage) => void): void;
  on(event: "pageerror", heard: (error: Error) => void): void;
  on(event: "request", heard: (request: { url(): string }) => void): void;
  on(event: "requestfailed", heard: (request: { url(): string }) => void): void;
  close(): Promise<void>;
}

export interface ConsoleMessage {
  type(): string;
  text(): string;
}

export interface Locator {
  first(): Locator;
  nth(index: number): Locator;
  filter(options: { readonly hasText: string | RegExp }): Locator;
  count(): Promise<number>;
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  selectOption(value: string): Promise<unknown>;
  focus(): Promise<void>;
  waitFor(options?: {
    readonly state?: "attached" | "detached" | "visible" | "hidden";
    readonly timeout?: number;
  }): Promise<void>;
  innerText(): Promise<string>;
  textContent(): Promise<string | null>;
  getAttribute(name: string): Promise<string | null>;
  getByRole(role: string, options?: { readonly name?: string | RegExp }): Locator;
  getByText(text: string | RegExp): Locator;
  locator(selector: string): Locator;
}

export interface Launcher {
  launch(options: {
    readonly executablePath: string;
    readonly headless: boolean;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string | undefined>>;
  }): Promise<Browser>;
}

/** A violation of a rule about accessibility. */
export interface AxeViolation {
  readonly id: string;
  readonly impact?: "minor" | "moderate" | "serious" | "critical" | null;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}
