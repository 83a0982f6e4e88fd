/** Findings of a SARIF log, as `mfmasim verify --sarif` writes it. No part of it needs VS Code. */

export interface Finding {
  /** As the log has it: relative to the folder in which mfmasim ran, or absolute. */
  file: string;
  /** From 1. */
  line: number;
  id: string;
  message: string;
  level: "error" | "warning" | "note";
}

interface Result {
  ruleId?: string;
  level?: string;
  message?: { text?: string };
  locations?: { physicalLocation?: { artifactLocation?: { uri?: string }; region?: { startLine?: number } } }[];
  suppressions?: unknown[];
}

/** The findings that have a place in a file and are not suppressed. */
export function findings(text: string): Finding[] {
  const log = JSON.parse(text) as { runs?: { results?: Result[] }[] };
  const results = (log.runs ?? []).flatMap((run) => run.results ?? []);
  return results.flatMap((result) => {
    const place = result.locations?.[0]?.physicalLocation;
    const file = place?.artifactLocation?.uri;
    if (file === undefined || (result.suppressions ?? []).length > 0) return [];
    const level = result.level === "error" || result.level === "warning" ? result.level : "note";
    const line = Math.max(1, place?.region?.startLine ?? 1);
    return [{ file: decodeURIComponent(file), line, id: result.ruleId ?? "", message: result.message?.text ?? "", level }];
  });
}
