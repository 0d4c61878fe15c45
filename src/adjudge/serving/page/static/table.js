// Tables of claims: CSV and JSON Lines read and written.

export function parseDelimited(source) {
  const content = source.replace(/^\uFEFF/, "");
  const separator = separatorOf(content);
  const records = [];
  let record = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < content.length; at += 1) {
    const letter = content[at];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (content[at + 1] === '"') { cell += '"'; at += 1; }
      else quoted = false;
    } else if (letter === '"' && cell === "") quoted = true;
    else if (letter === separator) { record.push(cell); cell = ""; }
    else if (letter === "\n" || letter === "\r") {
      if (letter === "\r" && content[at + 1] === "\n") at += 1;
      record.push(cell);
      records.push(record);
      record = [];
      cell = "";
    } else cell += letter;
  }
  if (quoted) throw new Error("A quotation mark opens a cell and nothing closes it.");
  if (cell || record.length) records.push([...record, cell]);
  return records.filter((one) => one.some((value) => value.trim()));
}

// What parts the cells of the first line, quoted ones aside; a comma where nothing does.
function separatorOf(content) {
  const first = content.split(/\r?\n/, 1)[0].replace(/"[^"]*"/g, "");
  const counts = [",", ";", "\t"].map((letter) => [first.split(letter).length, letter]);
  return counts.sort((one, other) => other[0] - one[0])[0][0] > 1 ? counts[0][1] : ",";
}

export function parseJsonLines(source) {
  const content = source.replace(/^\uFEFF/, "").trim();
  if (content.startsWith("[")) return JSON.parse(content).map(asRecord);
  return content.split(/\r?\n/).flatMap((line, number) => {
    if (!line.trim()) return [];
    try {
      return [asRecord(JSON.parse(line))];
    } catch (error) {
      throw new Error(`Line ${number + 1} is not JSON: ${error.message}.`);
    }
  });
}

const asRecord = (value) => (value !== null && typeof value === "object" && !Array.isArray(value) ? value : { claim: String(value) });

// The columns and records of a file; a table without a heading has the single column "claim".
export function readTable(name, source) {
  if (/\.(jsonl|ndjson|json)$/i.test(name)) {
    const records = parseJsonLines(source);
    return { columns: [...new Set(records.flatMap(Object.keys))], records };
  }
  const cells = parseDelimited(source);
  if (!cells.length) return { columns: [], records: [] };
  const columns = cells[0].map((value) => value.trim());
  if (cells.every((row) => row.length === 1) && !isClaimColumn(columns[0])) {
    return { columns: ["claim"], records: cells.map(([claim]) => ({ claim })) };
  }
  const records = cells.slice(1).map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] ?? ""])));
  return { columns, records };
}

const isClaimColumn = (name) => /^(claim|claims|text|statement|sentence)$/i.test(name);

export const claimColumn = (columns) => columns.find((name) => /^claims?$/i.test(name)) ?? columns.find(isClaimColumn);

// A text that a spreadsheet would compute is quoted.
const cellOf = (value) => {
  const plain = value === null || value === undefined ? "" : String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const toDelimited = (rows) => rows.map((row) => row.map(cellOf).join(",")).join("\r\n") + "\r\n";

export function download(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
