/** Where a pull stands. The last one of a pull has `done: true`. */
export interface PullProgress {
  readonly model: string;
  /** What is being fetched, for people. */
  readonly source: string;
  readonly receivedBytes: number;
  readonly totalBytes: number | undefined;
  readonly done: boolean;
}
