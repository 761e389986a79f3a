// The page of a run. `data.report` is report.json; a finding with a case also has `page`: the
// command that replays it, what its wrong elements say, and how the smallest case differs from the
// first.

const isBad = finding => !finding.is_known && !['passed', 'skipped'].includes(finding.verdict);

// Sums over findings. `red` counts those that no known defect explains.
function tallyOf(findings) {
  const tally = {findings: findings.length, count: {}, red: {}, known: 0, ratio: 0, bytes: 0};
  for (const each of findings) {
    tally.count[each.verdict] = (tally.count[each.verdict] ?? 0) + 1;
    if (each.is_known)
      tally.known++;
    else
      tally.red[each.verdict] = (tally.red[each.verdict] ?? 0) + 1;
    tally.ratio = Math.max(tally.ratio, numberOf(each.ratio_max ?? 0));
    tally.bytes += Number(each.compared_bytes ?? 0);
  }
  return tally;
}

// The worst verdict, with the number of findings that have it.
function lookOfTally({findings, count, red, known}) {
  const worst =
      ['falsified', 'crashed', 'hung', 'flaky', 'vacuous', 'errored'].find(each => red[each]);
  if (worst) return {...look(worst), text: `${look(worst).text}, ${red[worst]} of ${findings}`};
  if (known > 0) return {css: 'doubt', text: `! known, ${known} of ${findings}`};
  if (!count.passed) return look('skipped');
  const skipped = count.skipped ? `, ${count.skipped} skipped` : '';
  return {...look('passed'), text: look('passed').text + skipped};
}

// "exact", the largest error/bound, or "-" if there is none to tell.
function errorOf({bytes, ratio, count}) {
  const failed = ['falsified', 'flaky', 'hung', 'crashed'].some(each => count[each]);
  if (bytes === 0 || (ratio === 0 && failed)) return '-';
  return ratio === 0 ? 'exact' : rounded(ratio);
}

// The opening.

// What of a gate for hardware did not pass: parts first, then devices, then links.
function gateItems(gate) {
  const of = (field, nameOf) =>
      listIn(gate, field)
          .filter(each => isObject(each) && each.verdict in signs && each.verdict !== 'passed')
          .map(each => ({
                 what: nameOf(each),
                 verdict: each.verdict,
                 reason: shortened(each.reason, 300)
               }));
  return [
    ...of('phases', each => `part ${each.name}`), ...of('devices', each => `device ${each.device}`),
    ...of('links', each => `link ${each.from} to ${each.to} by ${each.method}`)
  ];
}

function failedParts(items, hasCauses) {
  const told = hasCauses ? 0 : 5;
  const item = text => h('li', link('gate', text));
  return [
    items.slice(0, told).map(
        each => item(`The gate's ${each.what} is ${each.verdict}: ${each.reason}`)),
    items.length > told &&
        item(`In the gate, these did not pass: ${firstOf(items.map(each => each.what))}.`),
  ];
}

function howCountsBelongTogether({findings}, causes) {
  const unit =
      'A unit is one property of one algorithm of one operation on one backend, which many ' +
      'cases check.';
  const errored = findings.filter(each => each.verdict === 'errored').length;
  const all = findings.filter(isBad).length;
  if (all === 0) return unit;
  const what = errored === 0 ? 'failed' :
      errored === all        ? 'could not be checked' :
                               'failed or could not be checked';
  if (all === 1) return `${unit} The unit that ${what} has a card below.`;
  return `${unit} The ${grouped(all)} units that ${what} seem to have ` +
      counted(causes.length, 'cause, which has a card', 'causes, each of which has a card') +
      ' below.';
}

const fact = (name, value) => value ? [h('dt', name), h('dd', value)] : null;

function whatWasChecked(report) {
  const {findings, environment, total} = report;
  const judged = findings.filter(each => !['skipped', 'errored'].includes(each.verdict));
  const names = of => sortedSet(judged.map(of));
  const operations = names(each => each.unit.operation);
  const algorithms = names(each => `${each.unit.operation}/${each.unit.algorithm}`);
  const ranks =
      largestOf(judged.map(each => Math.max(each.ranks_max ?? 0, each.minimal?.ranks ?? 0)));
  const error = errorOf(
      {bytes: total.compared_bytes, ratio: numberOf(total.ratio_max), count: total.verdicts});
  const commit = textIn(environment, 'commit');
  const machine = ['host', 'system', 'kernel', 'processor'].map(each => textIn(environment, each));
  const duration = environment.duration_s;
  const backends = Object.entries(isObject(environment.backends) ? environment.backends : {})
                       .filter(([, told]) => isObject(told));
  const saidOf = told =>
      Object.entries(told)
          .filter(([, value]) => !isObject(value) || Object.keys(value).length > 0)
          .map(([field, value]) => `${field} ${shortened(inWords(value), 800)}`)
          .join(', ');
  return section(
      'verified', 'What was checked',
      h('dl', fact('operations', `${operations.length}: ${firstOf(operations) || 'none'}`),
        fact('algorithms', grouped(algorithms.length)),
        fact('backends', firstOf(names(each => tested(each.unit))) || 'none'),
        backends.map(([name, told]) => fact(name, saidOf(told))),
        fact('ranks', ranks > 0 && `up to ${ranks}`),
        fact(
            'cases',
            `${grouped(total.cases)}, with ${grouped(total.compared_bytes)} bytes ` +
                'compared'),
        fact('worst error/bound', error === '-' ? error : `${error}, of right elements`),
        fact(
            'rankcheck',
            textIn(environment, 'rankcheck') + (commit && ` (commit ${commit.slice(0, 12)})`)),
        fact('machine', machine.filter(Boolean).join(', ')),
        fact(
            'started',
            textIn(environment, 'started') +
                (typeof duration === 'number' ? `, took ${duration.toFixed(1)} s` : '')),
        fact('asked for', report.run && shortened(askedFor(report.run), 400))));
}

function whatWasNotChecked(report, cut, items) {
  const why = {
    backend_unavailable: 'because their backend cannot run here',
    no_device: 'because there are not enough devices',
    no_memory: 'because there is not enough memory',
    data_absent: 'because a data file is missing',
    not_supported: 'because the backend takes none of their cases',
    time_over: 'because the time was over before they had covered enough',
    interrupted: 'because the run was interrupted before they had covered enough',
  };
  const {ending, not_run, total, environment} = report;
  const absent = isObject(environment.unavailable_backends) ? environment.unavailable_backends : {};
  const refusals = new Map();
  for (const {verdict, refusal} of report.findings) {
    if (verdict === 'skipped' && refusal) refusals.set(refusal, (refusals.get(refusal) ?? 0) + 1);
  }
  const sorted = [...refusals].sort((a, b) => b[1] - a[1]);
  const skipped = count => counted(count, 'unit was skipped', 'units were skipped');
  const errored = total.verdicts.errored;
  const all = [
    ending !== 'completed' ?
        `The run ended early (${ending}): ${cut}.` :
        not_run > 0 && counted(not_run, 'unit was not run.', 'units were not run.'),
    ...Object.entries(absent).map(
        ([backend, reason]) => `Backend ${backend} cannot run here: ${shortened(reason, 300)}.`),
    ...items.slice(0, most.named)
        .map(each => `The gate's ${each.what} is ${each.verdict}: ${each.reason}.`),
    items.length > most.named &&
        `and ${items.length - most.named} more of the gate, which report.json lists`,
    ...Object.entries(total.skip_reasons)
        .map(([reason, count]) => `${skipped(count)} ${why[reason] ?? 'for another reason'}.`),
    ...sorted.slice(0, most.named)
        .map(([refusal, count]) => `${skipped(count)}: ${shortened(refusal, 300)}.`),
    sorted.length > most.named &&
        `and ${sorted.length - most.named} more reasons, which report.json names.`,
    errored > 0 &&
        counted(errored, 'unit could not be checked', 'units could not be checked') +
            ' because of an error outside of the code under test.',
    total.refused_cells > 0 &&
        counted(
            total.refused_cells, 'cell was not checked, because it is',
            'cells were not checked, because they are') +
            ' not offered by the backends. A cell is what cases must cover, such as a type with ' +
            'a reduction.',
  ].filter(Boolean);
  return section(
      'unverified', 'What could not be checked',
      all.length > 0 ? h('ul', all.map(each => h('li', each))) :
                       h('p', 'Nothing that this run asked for was left out.'),
      faint(
          'A pass is about these checks and nothing else. It says nothing about other types, ' +
          'sizes, machines or versions.'));
}

function opening(data, causes, knownCauses) {
  const {report} = data;
  const gate = report.environment.hardware;
  const items = isObject(gate) ? gateItems(gate) : [];
  const isRed = ({verdict}) => signs[verdict][0] === 'bad' || verdict === 'vacuous';
  const failed = items.filter(isRed);
  const contents = [
    causes.length > 0 && ['failures', 'Failures'],
    (report.known || knownCauses.length > 0) && ['known', 'Known defects'],
    isObject(gate) && ['gate', 'Devices and links'],
    ['matrix', 'Operations and backends'],
    ['coverage', 'Coverage'],
    ['charts', 'Errors and times'],
    ['words', 'Words'],
  ].filter(Boolean);
  return [
    h(`header.verdict.${['good', 'bad', 'doubt'][report.exit_status]}`,
      {id: 'verdict', tabindex: -1}, h('h1', data.verdict),
      causes.length + failed.length > 0 &&
          h('ul', firstCauses(causes, 'failure', 'failures'),
            failed.length > 0 && failedParts(failed, causes.length > 0)),
      h('p', howCountsBelongTogether(report, causes))),
    h('nav', {'aria-label': 'Sections'},
      h('ul', contents.map(([id, title]) => h('li', link(id, title))))),
    h('div.columns', whatWasChecked(report),
      whatWasNotChecked(report, data.cut, items.filter(each => !isRed(each)))),
  ];
}

// Failures and known defects.

function lookOfKnown({state, is_expired, expires}) {
  const late = is_expired ? `, expired on ${expires}` : '';
  const [css, text] = {
    failing: [is_expired ? 'doubt' : 'quiet', 'still fails'],
    passing: ['doubt', 'passed: it may be mended'],
    unmatched: ['doubt', 'covers no case of this run'],
    not_applied: ['quiet', 'not applied: another library or version'],
  }[state] ??
      ['quiet', 'not checked to the end'];
  return h(`td.${css}`, text + late);
}

function knownDefects(known, causes, left) {
  if (known.length === 0 && causes.length === 0) return null;
  return section(
      'known', 'Known defects',
      faint(
          'Somebody listed these defects in a file for --known. What fails only as such a defect ' +
          'says does not make the run fail. All else is checked as usual.'),
      known.length > 0 &&
          table(
              'Known defects that this run was given',
              ['defect', 'in this run', 'failed cases', 'units', 'reason'],
              known.map(
                  each =>
                      [shortened(each.id, 80), lookOfKnown(each),
                       number(`${grouped(each.failed)} of ${grouped(each.covered)}`),
                       number(grouped(each.units)),
                       h('td.said', shortened(each.reason, 300),
                         each.link && `; ${shortened(each.link, 200)}`)])),
      cards(causes, {id: 'known', limit: left}));
}

// Devices and links of the gate for hardware.

const verdictBadge = word => badge(word in signs ? look(word) : {css: 'quiet', text: word});

function exposureOf(exposure) {
  if (!isObject(exposure) || typeof exposure.bytes !== 'number') return 'not known';
  const {bytes, copies = 0, wrong_bytes = 0, error_rate_bound, confidence = 0} = exposure;
  const text =
      `${grouped(bytes)} bytes in ${grouped(copies)} copies, ${grouped(wrong_bytes)} wrong`;
  return typeof error_rate_bound !== 'number' ?
      `${text}; no bound` :
      `${text}; error rate per byte below ${Number(error_rate_bound.toPrecision(2))} (confidence ` +
          `${Math.round(100 * confidence)} %)`;
}

// The links by one method as a matrix of devices: the worst verdict, and the speeds.
function linkMatrix(method, links, devices) {
  const cellOf = all => {
    if (all.length === 0) return '-';
    const worst = all.find(each => each.verdict !== 'passed') ?? all[0];
    const speeds = all.map(each => each.gigabytes_per_s ?? 0);
    const [least, largest] = [Math.min(...speeds), Math.max(...speeds)];
    const range = least < largest ? `${rounded(least)} to ${rounded(largest)}` : rounded(largest);
    return h(
        'td', verdictBadge(worst.verdict), ` ${range} GB/s`,
        worst.reason && `: ${shortened(worst.reason, 120)}`);
  };
  return table(
      `Links by ${method}: GB/s from the device of the row to the device of the column`,
      ['from \\ to', ...devices],
      devices.map(
          from =>
              [from,
               ...devices.map(
                   to => cellOf(links.filter(each => each.from === from && each.to === to)))]));
}

function linkMatrices(links) {
  const all = sortedSet(links.flatMap(each => [each.from, each.to])).sort((a, b) => a - b);
  const devices = all.slice(0, most.devices);
  const shown = links.filter(each => devices.includes(each.from) && devices.includes(each.to));
  const methods = new Map();
  for (const each of shown) {
    entry(methods, each.method + (each.way ? `, ${each.way}` : ''), () => []).push(each);
  }
  const left = links.length - shown.length;
  return shown.length > 0 && [
    h('h3', 'Links'), [...methods].sort().map(([method, of]) => linkMatrix(method, of, devices)),
    left > 0 && h('p', `and ${counted(left, 'more link')}, which report.json lists`)
  ];
}

function speedTable(speeds) {
  const met = {true: ['good', 'yes'], false: ['bad', 'no']};
  return speeds.length > 0 && [
    h('h3', 'Speeds'),
    table(
        'Speeds beside their targets', ['measurement', 'counter', 'value', 'target', 'met'],
        speeds.map(each => {
          const [css, word] = met[each.met] ?? ['quiet', 'not judged'];
          return [
            textIn(each, 'measurement'), textIn(each, 'counter'),
            number(
                typeof each.value === 'number' ? rounded(each.value) :
                                                 shortened(each.failure, 120)),
            typeof each.at_most === 'number' ? `at most ${each.at_most}` :
                                               `at least ${each.at_least ?? 0}`,
            h(`td.${css}`, word)
          ];
        }))
  ];
}

function gateSection(gate) {
  if (!isObject(gate)) return null;
  const objects = field => listIn(gate, field).filter(isObject);
  const devices = objects('devices');
  const left = devices.length - most.devices;
  const bound = gate.case_failure_rate_bound;
  return section(
      'gate', 'Devices and links',
      h('p',
        'A pass of this gate is about the checks below, on these devices, and about nothing ' +
            'else. The bounds assume that errors are independent of one another and of the data.'),
      table(
          'Parts of the gate', ['part', 'verdict', 'cases', 'bytes compared', 'reason'],
          objects('phases').map(
              each =>
                  [textIn(each, 'name'), h('td', verdictBadge(each.verdict)),
                   number(grouped(each.cases ?? 0)), number(grouped(each.compared_bytes ?? 0)),
                   said(each.reason, 300)])),
      h('h3', 'Devices'),
      table(
          'Devices with verdict and exposure',
          ['device', 'name', 'bus', 'verdict', 'reason', 'exposure and bound'],
          devices.slice(0, most.devices)
              .map(
                  each =>
                      [textIn(each, 'device'), shortened(each.name, 80), shortened(each.bus, 40),
                       h('td', verdictBadge(textIn(each, 'verdict'))), said(each.reason, 200),
                       said(exposureOf(each.exposure), 400)])),
      left > 0 && h('p', `and ${counted(left, 'more device')}, which report.json lists`),
      devices.some(each => each.memory) &&
          h('p',
            'Some devices are stand-ins, so their numbers describe ' +
                'no hardware, and there is no bound for them.'),
      linkMatrices(objects('links')), h('p', `All links together: ${exposureOf(gate.exposure)}.`),
      typeof bound === 'number' &&
          h('p',
            `${gate.cases} cases were judged and none failed: the failure ` +
                `rate per case is below ${Number(bound.toPrecision(2))}.`),
      speedTable(objects('speeds')));
}

// The matrix of operations and backends.

function verdictCell(findings, id = null) {
  const tally = tallyOf(findings);
  const looks = lookOfTally(tally);
  // Wrong elements without a number, such as those of a copy, have no error.
  const hasErrors = tally.bytes > 0 && (tally.ratio > 0 || looks.css === 'good');
  const content = [badge(looks), hasErrors && [' ', h('span.faint', errorOf(tally))]];
  return h('td', id ? h('a', {href: '#' + id}, content) : content);
}

// The algorithms and properties of an operation on a backend.
function pairDetails({operation, backend, findings, id}) {
  const all = sortedSet(findings.map(each => each.unit.algorithm));
  const algorithms = all.slice(0, most.algorithms);
  const properties = new Map();
  for (const each of findings) {
    const of = entry(properties, each.unit.property, () => new Map());
    entry(of, each.unit.algorithm, () => []).push(each);
  }
  const tally = tallyOf(findings);
  const error = errorOf(tally);
  return h(
      'details',
      h('summary',
        `${operation} on ${backend}: ${lookOfTally(tally).text}` +
            (error === '-' ? '' : `; worst error/bound of right elements: ${error}`)),
      h('div', {id},
        table(
            `Properties and algorithms of ${operation} on ${
                backend}, with verdict and worst error/bound of ` +
                'right elements',
            ['property', ...algorithms],
            [...properties].sort().map(
                ([property, of]) =>
                    [property,
                     ...algorithms.map(
                         algorithm => of.has(algorithm) ? verdictCell(of.get(algorithm)) : '-')])),
        all.length > most.algorithms &&
            h('p',
              `and ${all.length - most.algorithms} more algorithms, which report.json lists`)));
}

function matrix(findings) {
  const pairs = new Map();
  for (const each of findings) {
    const {operation} = each.unit;
    const backend = tested(each.unit);
    entry(pairs, `${operation}\0${backend}`, () => ({operation, backend, findings: []}))
        .findings.push(each);
  }
  const sorted = [...pairs.keys()].sort().map(key => pairs.get(key));
  const detailed = sorted.slice(0, most.details);
  detailed.forEach((pair, i) => {
    pair.id = `pair-${i + 1}`;
  });
  const backends = sortedSet(sorted.map(each => each.backend));
  const columns = backends.slice(0, most.columns);
  const left = (all, limit, what) => all.length > limit &&
      h('p', `and ${all.length - limit} more ${what}, which report.json lists`);
  return section(
      'matrix', 'Operations and backends',
      table(
          'Verdict of each operation on each backend, and worst error/bound of right elements',
          ['operation', ...columns],
          sortedSet(sorted.map(each => each.operation))
              .map(operation => [shortened(operation, 120), ...columns.map(backend => {
                     const pair = pairs.get(`${operation}\0${backend}`);
                     return pair ? verdictCell(pair.findings, pair.id) : '-';
                   })]),
          'operations, which report.json lists'),
      left(backends, most.columns, 'backends'), h('h3', 'Algorithms and properties'),
      detailed.map(pairDetails), left(sorted, most.details, 'pairs'));
}

// Coverage.

// A heat map: cells by row and column. A cell counts cases, by members if the report says it.
class HeatMap {
  rows = new Map();
  columns = new Set();

  add(row, column, {cases = 0, members = {}, ...flags}) {
    this.columns.add(column);
    const make = () => ({cases: 0, members: new Map()});
    const heat = entry(entry(this.rows, row, () => new Map()), column, make);
    heat.cases += cases;
    for (const [ranks, count] of Object.entries(members)) {
      heat.members.set(Number(ranks), (heat.members.get(Number(ranks)) ?? 0) + count);
    }
    Object.assign(heat, flags);
  }

  get cells() {
    return [...this.rows.values()].flatMap(row => [...row.values()]);
  }

  // The numbers of ranks of all cells.
  get ranks() {
    return [...new Set(this.cells.flatMap(each => [...each.members.keys()]))].sort((a, b) => a - b);
  }
}

// "1, 3–5" for 1, 3, 4 and 5.
function ranges(numbers) {
  const runs = [];
  for (const each of numbers) {
    if (runs.at(-1)?.at(-1) === each - 1)
      runs.at(-1).push(each);
    else
      runs.push([each]);
  }
  return runs.map(run => run.length < 3 ? run.join(', ') : `${run[0]}–${run.at(-1)}`).join(', ');
}

const brief = number => number < 1000 ? String(number) :
    number < 1e6                      ? `${(number / 1e3).toFixed(1)}k` :
                                        `${(number / 1e6).toFixed(1)}M`;

// Numbers sort as numbers, and names as names.
const inOrder = (a, b) => a - b || (a < b ? -1 : 1);

function heatCell(heat, largest, ranks) {
  if (!heat) return '';
  if (heat.isMissing)
    return h('td.number.hole', heat.cases > 0 ? `hole, ${brief(heat.cases)}` : 'hole');
  if (heat.cases === 0)
    return heat.isKnown ? h('td.doubt', 'known') : h('td.heat-0', 'not offered');
  // The logarithm tells cells with few cases from those with none.
  const step =
      Math.min(Math.max(Math.ceil(4 * Math.log1p(heat.cases) / Math.log1p(largest)), 1), 4);
  const gaps = heat.members.size > 0 ? ranges(ranks.filter(each => !heat.members.has(each))) : '';
  return h(`td.number.heat-${step}`, brief(heat.cases), gaps && h('div.gaps', `not ${gaps}`));
}

// A heat map as a table. Each cell names those of `ranks` with which none of its cases ran.
function heatTable(caption, corner, map, ranks = []) {
  if (map.rows.size === 0) return null;
  const all = [...map.columns].sort(inOrder);
  const columns = all.slice(0, 40);
  const largest = largestOf(map.cells.map(each => each.cases), 1);
  return [
    table(
        caption, [corner, ...columns],
        [...map.rows.keys()].sort(inOrder).map(
            row =>
                [shortened(row, 120),
                 ...columns.map(
                     column => heatCell(map.rows.get(row).get(column), largest, ranks))])),
    all.length > 40 && h('p', `and ${all.length - 40} more columns`)
  ];
}

// "f32/sum" becomes its two parts. A class of inputs, such as "input/f32/wide", is a variant.
function typeAndVariant(cell) {
  if (cell.startsWith('site/') || cell.startsWith('ranks/')) return null;
  const [first, second, third] = cell.split('/');
  return first === 'input' && third !== undefined ? [second, `input ${third}`] :
                                                    [first, second ?? '-'];
}

// The cells of a finding, each with what the finding says of it.
function heatsOf(finding) {
  const {cells = {}, cell_members = {}, missing_cells = [], refused_cells = [], known_cells = []} =
      finding;
  const membersOf = text => Object.fromEntries((text ?? '').split(' ').filter(Boolean).map(each => {
    const [ranks, cases] = each.split(':').map(Number);
    return [ranks, cases];
  }));
  // A unit that failed or was skipped ended early. What it did not cover is no hole of the checks.
  const isWhole =
      finding.verdict === 'passed' || (finding.verdict === 'vacuous' && !finding.minimal);
  return [
    ...Object.entries(cells).map(
        ([cell, cases]) => [cell, {cases, members: membersOf(cell_members[cell])}]),
    ...(isWhole ? missing_cells : []).map(cell => [cell, {isMissing: true}]),
    ...refused_cells.map(cell => [cell, {}]),
    ...known_cells.map(cell => [cell, {isKnown: true}]),
  ];
}

// How many combinations of a cell and a number of ranks have a case.
function combinations(operations) {
  let [all, covered, hasCases] = [0, 0, false];
  for (const map of operations.values()) {
    const ranks = map.ranks.length;
    for (const {cases, members} of map.cells) {
      hasCases ||= cases > 0;
      if (members.size > 0) all += ranks;
      covered += members.size;
    }
  }
  if (all > 0) {
    return h(
        'p',
        `${grouped(covered)} of ${grouped(all)} combinations of an operation, a type, a ` +
            'reduction or variant, and a number of ranks have a case. None of them is required ' +
            'by itself.');
  }
  return hasCases &&
      h('p', 'The report does not say with how many ranks the cases of each type ran.');
}

function coverage(findings) {
  const [all, ranks, types] = [new HeatMap(), new HeatMap(), new HeatMap()];
  const operations = new Map();
  const holes = new Set();
  for (const finding of findings) {
    const {operation} = finding.unit;
    for (const [cell, heat] of heatsOf(finding)) {
      if (heat.isMissing) holes.add(`${operation}/${cell}`);
      if (cell.startsWith('ranks/')) ranks.add(operation, cell.slice(6), heat);
      const parts = typeAndVariant(cell);
      if (!parts) continue;
      all.add(...parts, heat);
      entry(operations, operation, () => new HeatMap()).add(...parts, heat);
      for (const [members, cases] of Object.entries(heat.members ?? {})) {
        types.add(parts[0], members, {cases});
      }
    }
  }
  const named = [...operations.keys()].sort();
  return section(
      'coverage', 'Coverage',
      h('p',
        'Each number counts cases, and a darker cell has more. One case may count for several ' +
            'properties. A hole is a cell that is required, but that some unit did not cover. ' +
            '"not offered" is a cell that the backend does not take. "known" is a cell that only ' +
            'known failures reached. Where a table has nothing, no operation in it has such a ' +
            'cell.'),
      holes.size === 0 ?
          h('p', 'There are no holes.') :
          h('p.bad', `${counted(holes.size, 'hole')}: ${firstOf([...holes].sort(), 20)}.`),
      combinations(operations),
      heatTable('Cases by type and reduction or variant, all operations', 'type', all),
      heatTable('Cases by operation and number of ranks', 'operation', ranks),
      heatTable('Cases by type and number of ranks, all operations', 'type', types),
      h('h3', 'Each operation'),
      types.rows.size > 0 &&
          faint(
              '"not 1, 3" below a number: no case of this cell ran with 1 or 3 ranks, ' +
              'though other cases of the operation did.'),
      named.slice(0, most.maps)
          .map(
              operation =>
                  h('details', h('summary', shortened(operation, 120)),
                    heatTable(
                        `Cases of ${
                            operation} by type and variant, with the missing numbers of ranks`,
                        'type', operations.get(operation), operations.get(operation).ranks))),
      named.length > most.maps &&
          h('p', `and ${named.length - most.maps} more, which report.json lists`));
}

// Errors and times.

function errorBars(findings) {
  const limits = [1e-4, 1e-3, 1e-2, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
  const counts = new Array(limits.length + 1).fill(0);
  for (const each of findings) {
    const tally = tallyOf([each]);
    if (errorOf(tally) === '-') continue;
    const found = limits.findIndex(limit => tally.ratio <= limit);
    counts[tally.ratio === 0 ? 0 : found < 0 ? limits.length : found + 1]++;
  }
  if (counts.every(each => each === 0)) return h('p', 'Nothing was compared.');
  return bars(
      'Number of units by the worst error/bound of their right elements',
      counts.map((count, i) => ({
                   label: i === 0 ? 'exact' : `up to ${limits[i - 1]}`,
                   length: count,
                   said: grouped(count)
                 })));
}

function timeBars(durations) {
  const all = Object.entries(isObject(durations) ? durations : {})
                  .filter(([, seconds]) => typeof seconds === 'number')
                  .sort((a, b) => b[1] - a[1]);
  if (all.length === 0) return null;
  const total = all.reduce((sum, [, seconds]) => sum + seconds, 0);
  const slowest = all.slice(0, 20);
  return [
    h('h3', 'Times'), h('p', `${counted(all.length, 'unit')} took ${total.toFixed(1)} s together.`),
    bars(
        `The ${slowest.length} units that took longest`,
        slowest.map(
            ([id, seconds]) => ({label: id, length: seconds, said: `${rounded(seconds)} s`})))
  ];
}

const glossary = {
  'unit': 'one property of one algorithm of one operation on one backend, checked by many cases',
  'error/bound':
      'the largest error as a share of the bound that is proved for it; above 1, the unit failed',
  'cell': 'what cases must cover, such as a type with a reduction, or a number of ranks',
  'cause': 'what several failed units seem to have in common; each cause has one card',
  'failed': 'falsified, flaky, hung, crashed or vacuous',
  'falsified': 'failed with a wrong result, and in every repetition',
  'flaky': 'failed in some repetitions only',
  'hung, crashed': 'failed because there was no answer in time, or because the program ended',
  'vacuous': 'the check saw too little to say anything, which counts as failed',
  'skipped': 'not checked, for the reason that is given',
  'errored': 'rankcheck itself or its environment failed',
  'known': 'failed only as a known defect says, which does not make the run fail',
};

function runPage(data) {
  const {report} = data;
  const {findings, environment, known = []} = report;
  const all = causesOf(report.causes ?? [], findings);
  const causes = all.filter(each => !each.is_known);
  const knownCauses = all.filter(each => each.is_known);
  return [
    opening(data, causes, knownCauses),
    causes.length > 0 &&
        section(
            'failures', 'Failures',
            faint(
                'Each card is one cause: units on one backend whose failures look alike. Its ' +
                'command runs its smallest failing case again.'),
            cards(causes, {id: 'failure', open: 3})),
    knownDefects(known, knownCauses, Math.max(most.cards - causes.length, 0)),
    gateSection(environment.hardware),
    matrix(findings),
    coverage(findings),
    section(
        'charts', 'Errors and times', h('h3', 'Errors'), errorBars(findings),
        timeBars(environment.durations_s)),
    section(
        'words', 'Words',
        h('dl',
          Object.entries(glossary).map(([word, meaning]) => [h('dt', word), h('dd', meaning)]))),
  ];
}
