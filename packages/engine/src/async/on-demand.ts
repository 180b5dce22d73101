/** Code that is loaded when it is first needed, so that who never needs it does not carry it. */
export class OnDemand<Module> {
  readonly #load: () => Promise<Module>;
  #loading: Promise<Module> | undefined;

  constructor(load: () => Promise<Module>) {
    this.#load = load;
  }

  get(): Promise<Module> {
    this.#loading ??= this.#load().catch((failure: unknown) => {
      // A network that was down must not close the door for good.
      this.#loading = undefined;
      throw failure;
    });
    return this.#loading;
  }

  /** Gives the code, which is there already: a clock that stands still waits for no file. */
  put(module: Module): void {
    this.#loading ??= Promise.resolve(module);
  }
}
