'use strict';
// What the pages of a run and of a comparison share: elements, words, tables, pictures and cards.
// All text goes through h(), which makes text nodes, so nothing in a report can become markup.
// Everything is bounded, and what is left out is counted.

const most = {
  cards: 200,
  rows: 200,
  columns: 30,
  devices: 64,
  algorithms: 60,
  named: 12,
  details: 300,
  maps: 100
};

// An element: "tag.class", its attributes if the first argument is a plain object, and its content:
// texts, numbers, elements and lists of these. What is null, false or empty is left out.
function h(kind, ...content) {
  const [tag, ...classes] = kind.split('.');
  const isPicture = ['svg', 'rect', 'text', 'polyline', 'circle'].includes(tag);
  const element = isPicture ? document.createElementNS('http://www.w3.org/2000/svg', tag) :
                              document.createElement(tag);
  if (classes.length) element.setAttribute('class', classes.join(' '));
  if (content[0]?.constructor === Object) {
    for (const [name, value] of Object.entries(content.shift())) {
      if (value !== null && value !== false) element.setAttribute(name, value);
    }
  }
  const isSaid = each => each !== null && each !== undefined && each !== false && each !== '';
  element.append(...content.flat(Infinity).filter(isSaid));
  return element;
}

// Words.

// 1234567 becomes "1,234,567".
const grouped = number => Number(number).toLocaleString('en-US');
const counted = (number, one, many = one + 's') =>
    `${grouped(number)} ${number === 1 ? one : many}`;
// A number with three digits.
const rounded = value => String(Number(Number(value).toPrecision(3)));
const largestOf = (values, least = 0) => values.reduce((a, b) => Math.max(a, b), least);
// JSON has no infinities and no NaN: they are the words "inf", "-inf" and "nan".
const numberOf = value => ({inf: Infinity, '-inf': -Infinity, nan: NaN})[value] ?? Number(value);

// A long text loses its middle, because its beginning and its end say most.
function shortened(text, length) {
  const all = String(text ?? '');
  if (all.length <= length) return all;
  const end = Math.floor(length / 3);
  return `${all.slice(0, length - end - 1)}…${all.slice(-end)}`;
}

function firstOf(names, limit = most.named) {
  const listed = names.slice(0, limit).map(each => shortened(each, 120)).join(', ');
  return names.length > limit ? `${listed} and ${names.length - limit} more` : listed;
}

const sortedSet = values => [...new Set(values)].sort();
const tested = unit => unit.subject || unit.backend;
const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value);
const listIn = (object, field) => Array.isArray(object?.[field]) ? object[field] : [];
const textIn = (object, field) => {
  const value = isObject(object) ? object[field] : null;
  return value === null || value === undefined ? '' :
      typeof value === 'string'                ? value :
                                                 JSON.stringify(value);
};

// Calls `make` for a key that the map lacks. Returns its value.
function entry(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
}

// A value as words: "suites smoke, ranks 1, 4".
function inWords(value) {
  if (typeof value === 'string') return shortened(value, 120);
  if (Array.isArray(value)) return value.map(inWords).join(', ');
  if (!isObject(value)) return JSON.stringify(value);
  return Object.entries(value).map(([name, each]) => `${name} ${inWords(each)}`).join(', ');
}

// What a run was asked for, as the command that asks for it. What is no option stands behind it.
function askedFor(run) {
  if (!isObject(run)) return inWords(run ?? '');
  const options = {
    operation: '--operation',
    algorithm: '--algorithm',
    property: '--property',
    backends: '--backend',
    ranks: '--ranks',
    hosts: '--hosts',
    types: '--type',
    cases: '--cases',
    require: '--require',
    units: '--unit',
    ranks_required: '--require-ranks',
    seed: '--seed'
  };
  const quoted = text =>
      /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll('\'', '\'\\\'\'')}'`;
  const valuesOf = (field, value) => {
    const all = [value].flat().map(each => typeof each === 'string' ? each : JSON.stringify(each));
    return field === 'ranks'                   ? [all.join('..')] :
        field === 'hosts' || field === 'types' ? [all.join(',')] :
                                                 all;
  };
  let command = 'rankcheck run';
  let others = '';
  if ('suites' in run)
    command += valuesOf('suites', run.suites).map(each => ' ' + quoted(each)).join('');
  for (const [field, value] of Object.entries(run)) {
    if (field === 'suites' || value === false) continue;
    if (field === 'quick')
      command += ' --quick';
    else if (!(field in options))
      others += `; ${field} ${inWords(value)}`;
    else
      for (const each of valuesOf(field, value)) command += ` ${options[field]} ${quoted(each)}`;
  }
  return command + others;
}

// How verdicts look. A colour never stands alone: a sign and a word say the same.

const signs = {
  passed: ['good', '✓'],
  skipped: ['quiet', '–'],
  vacuous: ['doubt', '!'],
  errored: ['doubt', '!'],
  falsified: ['bad', '✗'],
  flaky: ['bad', '✗'],
  hung: ['bad', '✗'],
  crashed: ['bad', '✗']
};

function look(verdict) {
  const [css, sign] = signs[verdict] ?? ['quiet', '?'];
  return {css, sign, text: `${sign} ${verdict}`};
}

function lookOfFinding(finding) {
  return finding.is_known ? {css: 'doubt', text: `! ${finding.verdict} as known`} :
                            look(finding.verdict);
}

const badge = ({css, text}) => h(`span.badge.${css}`, text);

const meanings = {
  falsified:
      'Falsified: it failed with a wrong result, and so did every repetition that could be made.',
  flaky: 'Flaky: it failed, but only in some repetitions.',
  hung: 'Hung: it failed, because there was no answer in time.',
  crashed: 'Crashed: it failed, because the program ended while it was called.',
  vacuous: 'Vacuous: the check saw too little to say anything, which counts as failed.',
  errored:
      'Errored: rankcheck itself or its environment failed, which says nothing about the code ' +
      'under test.',
};

// Parts of a page.

const section = (id, title, ...content) =>
    h('section', {'aria-labelledby': id}, h('h2', {id}, title), content);
const link = (id, text) => h('a', {href: '#' + id}, text);
const faint = text => h('p.faint', text);

// A box that scrolls sideways if its content is wide. The keyboard reaches it.
const scroll = (said, ...content) =>
    h('div.scroll', {role: 'region', tabindex: 0, 'aria-label': said}, content);

// A table. The first cell of a row is its heading. A cell is a text or a finished td.
function table(caption, head, rows, left = 'rows') {
  const cellOf = (cell, column) => cell instanceof HTMLTableCellElement ? cell :
      column === 0 ? h('th', {scope: 'row'}, cell) :
                     h('td', cell);
  return [
    scroll(
        caption,
        h('table', h('caption', caption),
          head && h('thead', h('tr', head.map(each => h('th', {scope: 'col'}, each)))),
          h('tbody', rows.slice(0, most.rows).map(row => h('tr', row.map(cellOf)))))),
    rows.length > most.rows && h('p', `and ${rows.length - most.rows} more ${left}`),
  ];
}

const number = (...content) => h('td.number', content);
const said = (text, length) => h('td.said', shortened(text, length));

// A command with a button that copies it.
function command(text) {
  const code = h('code', text);
  const button = h('button', {type: 'button', 'aria-label': 'Copy the command'}, 'Copy');
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(code);
      document.execCommand('copy');
    }
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  };
  return h('div.command', h('pre', code), button);
}

// The command that runs the smallest case of a failure again.
function replay(finding, length) {
  const text = finding.page?.replay;
  if (!text) return null;
  return text.length <= length ?
      command(text) :
      h('p',
        `The case has ${grouped(text.length)} bytes, too many for this page: report.json has it, ` +
            'as "minimal" of this unit.');
}

const shortReplay = finding => (finding.page?.replay ?? '').length <= 400 && replay(finding, 400);

// Pictures.

const picture = (width, height, said, ...content) =>
    h('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': said},
      content);

// Bars below one another, each with a label, a length, and what stands behind it.
function bars(title, all) {
  const longest = largestOf(all.map(each => each.length));
  const bar = length =>
      h('svg', {viewBox: '0 0 200 14', width: 200, height: 14, 'aria-hidden': true},
        h('rect.f-bar', {width: longest > 0 ? 200 * length / longest : 0, height: 14}));
  return table(
      title, null, all.map(each => [each.label, h('td', bar(each.length)), number(each.said)]));
}

// Values from left to right as a line above zero. A place without a value is a gap.
function line(title, values) {
  const [step, height, margin] = [18, 34, 4];
  const largest = largestOf(values.filter(Number.isFinite));
  const x = i => margin + step * i;
  const y = value => margin + (1 - (largest > 0 ? value / largest : 0)) * (height - 2 * margin);
  const lines = [[]];
  values.forEach(
      (value, i) =>
          Number.isFinite(value) ? lines.at(-1).push(`${x(i)},${y(value)}`) : lines.push([]));
  return picture(
      x(Math.max(values.length - 1, 1)) + margin, height,
      `${title}: ${values.map(each => each === null ? 'nothing' : rounded(each)).join(', ')}`,
      lines.filter(each => each.length).map(each => h('polyline.line', {points: each.join(' ')})),
      values.map(
          (value, i) =>
              Number.isFinite(value) && h('circle.f-bar', {cx: x(i), cy: y(value), r: 2.5})));
}

// What a mark of an element looks like: its class, the sign in its square, and its meaning.
const marks = {
  '.': ['right', '', 'right'],
  'x': ['wrong', '×', 'wrong'],
  'm': ['missing', '−', 'a contribution is missing'],
  'u': ['unwritten', 'o', 'not written'],
  '?': ['unknown', '?', 'not known'],
};

// The marks of a finding. One that has only its list of wrong elements says less.
function marksOf(finding) {
  if (finding.marks?.length) return finding.marks;
  const wrong = finding.wrong ?? [];
  if (!wrong.every(each => each.rank >= 0 && each.index >= 0)) return [];
  const seen = wrong.filter(each => each.rank < 16 && each.index < 64);
  // Where some wrong elements are not listed, nothing says that others are right.
  const other = finding.wrong_count === wrong.length ? '.' : '?';
  const rows = [];
  for (const {rank, index, decoded} of seen) {
    while (rows.length <= rank) rows.push([]);
    while (rows[rank].length <= index) rows[rank].push(other);
    rows[rank][index] = (decoded ?? '').includes(' missing') ? 'm' : 'x';
  }
  return rows.map(row => row.join(''));
}

// The ranks and elements of a failing case: which are right, wrong or not written.
function elementsPicture(finding) {
  const rows = marksOf(finding);
  if (rows.length === 0) return null;
  const [square, left, top] = [16, 60, 20];
  const columns = largestOf(rows.map(row => row.length), 8);
  const label = (x, y, text) => h('text.axis', {x, y}, text);
  const counts = row => Object.entries(marks)
                            .map(([mark, [, , meaning]]) => [row.split(mark).length - 1, meaning])
                            .filter(([count]) => count > 0)
                            .map(each => each.join(' '))
                            .join(', ') ||
      'no output';
  const said = rows.map((row, rank) => `; rank ${rank}: ${counts(row)}`).join('');
  const squareAt = (mark, column, y) => {
    if (!(mark in marks)) return null;
    const [fill, sign] = marks[mark];
    const x = left + square * column;
    return [
      h(`rect.f-${fill}.edge`, {x, y, width: square - 1, height: square - 1}),
      sign && h(mark === '?' ? 'text.mark' : 'text.mark.on-dark', {x: x + 4, y: y + 12}, sign)
    ];
  };
  const legend =
      Object.entries(marks)
          .filter(([mark]) => rows.some(row => row.includes(mark)))
          .map(([, [, sign, meaning]]) => (sign ? `“${sign}”` : 'blank') + ': ' + meaning)
          .join(', ');
  return h(
      'figure',
      scroll(
          'Picture of ranks and elements',
          picture(
              left + square * columns + 2, top + square * rows.length + 2,
              'Picture of ranks and elements' + said,
              Array.from(
                  {length: Math.ceil(columns / 8)},
                  (_, i) => label(left + square * 8 * i, 13, 8 * i)),
              rows.map((row, rank) => {
                const y = top + square * rank;
                return [
                  label(0, y + 12, `rank ${rank}`), [...row].map((mark, i) => squareAt(mark, i, y))
                ];
              }))),
      h('figcaption',
        `Each row is a rank, and each square is an element of its output (${legend}). At ` +
            'most 16 ranks and 64 elements are shown.'));
}

// What was expected of an operator, what it gave, and the error.
function valuesPicture(finding) {
  const {output, first, columns, expected = [], got = [], error = []} = finding.values ?? {};
  if (!output || !(columns >= 1)) return null;
  const magnitude = values => largestOf(values.map(numberOf).filter(Number.isFinite).map(Math.abs));
  const shade = (value, largest) => !Number.isFinite(value) ? 'bad' :
      largest > 0 ? Math.ceil(4 * Math.min(Math.abs(value) / largest, 1)) :
                    0;
  const panel = (title, values, largest) => {
    const isNumbered = columns <= 16;
    const [width, height] = isNumbered ? [68, 22] : [16, 16];
    return h(
        'figure',
        scroll(
            `Values: ${title}`,
            picture(
                width * columns + 1, height * Math.ceil(values.length / columns) + 1,
                `${title}: ${values.length} values, the largest ${rounded(magnitude(values))}`,
                values.map(numberOf).map((value, i) => {
                  const [x, y] = [width * (i % columns), height * Math.floor(i / columns)];
                  const step = shade(value, largest);
                  return [
                    h(`rect.f-${step}.edge`, {x, y, width, height}),
                    isNumbered &&
                        h(`text.t-${step}`, {x: x + 3, y: y + 15},
                          String(Number(value.toPrecision(4))))
                  ];
                }))),
        h('figcaption', `${title}, largest ${rounded(largest)}`));
  };
  // Expected and got share a scale, so that they can be compared by eye.
  const largest = Math.max(magnitude(expected), magnitude(got));
  return [
    h('p.label',
      `Values ${first} to ${first + expected.length - 1} of ${output}, ${columns} in a row. ` +
          'Darker is larger on a light screen, and lighter is larger on a dark one. Red is ' +
          'infinite or not a number.'),
    h('div.pictures', panel('expected', expected, largest), panel('got', got, largest),
      panel('error', error, magnitude(error))),
  ];
}

// Cards: one for each cause of failures.

const words = name => name.replaceAll('_', ' ');

// "3 ranks, count 1, type int32, op sum, input coded".
function caseInWords(c) {
  const told = ['operation', 'property', 'backend', 'algorithm', 'ranks', 'count', 'type'];
  const others =
      Object.entries(c)
          .filter(([field]) => !told.includes(field))
          .map(
              ([field, value]) => `${words(field)} ${
                  shortened(typeof value === 'string' ? value : JSON.stringify(value), 60)}`);
  return [counted(c.ranks, 'rank'), c.count > 0 && `count ${c.count}`, `type ${c.type}`, ...others]
      .filter(Boolean)
      .join(', ');
}

function wrongTable(finding) {
  const wrong = finding.wrong ?? [];
  if (wrong.length === 0) return null;
  const says = finding.page.says;
  const hasError = wrong.some(each => each.error || each.bound);
  const hasCause = says.some(each => each !== '');
  const hasLaterCall = wrong.some(each => each.stage > 0);
  const head = [
    hasLaterCall && ['call', 'ranks of the call'], 'rank', 'element',
    wrong[0].compared_with ? `${wrong[0].compared_with} has` : 'expected', 'got',
    hasError && ['error', 'bound'], hasCause && 'what the value says'
  ];
  const listed = list => list.flat().filter(each => each !== false);
  const caption = wrong.length < finding.wrong_count ?
      `The first ${wrong.length} of ${grouped(finding.wrong_count)} wrong elements` :
      counted(finding.wrong_count, 'wrong element');
  return table(
      caption, listed(head),
      wrong.map(
          (each, i) => listed([
            hasLaterCall &&
                [
                  number((each.stage ?? 0) + 1),
                  each.stage > 0 ? shortened(listIn(each, 'group').join(', '), 80) :
                                   'as in the case'
                ],
            number(each.rank), number(each.index), h('td', shortened(each.expected, 160)),
            h('td', shortened(each.got, 160)),
            hasError &&
                [number(rounded(numberOf(each.error))), number(rounded(numberOf(each.bound)))],
            hasCause && said(says[i], 400)
          ])));
}

// Which known defects explain a finding, and how often.
const knownOf = finding =>
    listIn(finding, 'known')
        .filter(each => each.failed > 0)
        .map(each => `known ${each.id} (${each.failed} of ${each.covered} cases failed)`)
        .join(', ');

// How the smallest case was found.
function howFound({is_known, shrinks = 0, replays = 0, replays_failed = 0, ...finding}) {
  if (is_known) {
    return `This is the simplest of the cases that failed as known: ${
               knownOf(finding)}. It was neither ` +
        'made simpler nor run again.';
  }
  if (replays === 0 && shrinks === 0) {
    return 'This is the case that failed. It was neither made simpler nor run again.';
  }
  const text = shrinks > 0 ?
      `The first failing case was made simpler in ${counted(shrinks, 'step')}.` :
      replays > 0 && replays_failed === 0 ? 'This is the case that failed first.' :
                                            'The first failing case could not be made simpler.';
  return replays === 0 ? text :
                         `${text} It was then run again ${counted(replays, 'time')}, and failed ` +
          (replays === replays_failed ? 'each time.' : `${counted(replays_failed, 'time')}.`);
}

// What differs between the case that failed first and the smallest one, and the steps between.
function shrinking({original, minimal, page, steps = [], shrinks = 0}) {
  if (!original || !minimal) return null;
  const left = shrinks - steps.length;
  return [
    table(
        'The case that failed first, beside the smallest one',
        ['field', 'failed first', 'smallest'], page.changes),
    steps.length > 0 &&
        h('details', h('summary', 'Each step from the first case to the smallest'),
          h('ol', steps.map(each => h('li', each))),
          left > 0 && h('p', `and ${counted(left, 'more step')}.`)),
  ];
}

function ofCases({cases = 0, verdict, is_known, minimal}) {
  if (cases <= 0) return '';
  const endedThere = signs[verdict]?.[0] === 'bad' && !is_known && minimal;
  return !endedThere ? ` ${counted(cases, 'case')} ran.` :
      cases === 1 ? ' The first case failed.' :
                    ` ${counted(cases - 1, 'case')} passed, and the next one failed.`;
}

function findingParts(finding) {
  const {unit, minimal, reason, missing_cells = []} = finding;
  const what = unit.property === '*' ? `all properties of ${unit.operation}` :
                                       `${words(unit.property)}, of ${unit.operation}`;
  const pinned = unit.pinned ? `, pinned case ${unit.pinned}` : '';
  return [
    reason && h('p', h('strong', 'What the check says: '), shortened(reason, 1000)),
    h('p', h('strong', 'What was checked: '),
      `${what} (property ${unit.property}${pinned}).${ofCases(finding)}`),
    minimal &&
        [
          h('p.label', 'Run it again with:'), replay(finding, 20000),
          h('p', `The smallest case that fails: ${caseInWords(minimal)}.`),
          elementsPicture(finding), valuesPicture(finding), wrongTable(finding),
          faint(howFound(finding)), shrinking(finding)
        ],
    // A unit that failed ended early, so what it did not cover says nothing.
    !minimal && missing_cells.length > 0 && h('p', `Never covered: ${firstOf(missing_cells, 40)}.`),
  ];
}

function otherFindings(others, list) {
  if (others.length === 0) return null;
  const left = others.length - 20;
  return h(
      'details',
      h('summary',
        counted(
            others.length, 'more unit, probably with this cause',
            'more units, probably with this cause')),
      others.slice(0, 20).map(
          each => [h('p', `${each.id}: ${shortened(each.reason, 200)}`), replay(each, 2000)]),
      left > 0 && h('p', `and ${counted(left, 'other')}, which ${list} lists.`));
}

// The card of a cause. Its first finding has the smallest case.
function card(cause, number, options) {
  const [first, ...others] = cause.findings;
  const {css, text} = lookOfFinding(first);
  const told = first.page?.cause;
  const isSimpler = cause.findings.some(each => each.shrinks > 0);
  return h(
      `details.card.is-${css}`, {open: number <= options.open ? '' : null},
      h('summary', {id: `${options.id}-${number}`}, badge({css, text}), ' ', h('h3', cause.line),
        cause.extent && h('span.faint', ` (${cause.extent})`)),
      h('div', faint(meanings[first.verdict]),
        told !== undefined &&
            h('p', h('strong', 'Cause: '),
              first.page.says[told] +
                  ` This is what element ${first.wrong[told].index} of rank ${
                      first.wrong[told].rank} shows.`),
        cause.cell && others.length > 0 &&
            h('p',
              `All of these failures are of ${cause.cell}.` +
                  (isSimpler ?
                       ' Cases were made simpler for as long as they failed, and this remained.' :
                       '')),
        options.more && h('p', shortened(options.more(first), 400)), findingParts(first),
        otherFindings(others, options.list)));
}

// The cards of causes, at most `limit`, and a table that counts the findings of the others.
function cards(causes, {id, open = 0, limit = most.cards, more = null, list = 'report.json'}) {
  const rest = causes.slice(limit);
  const counts = new Map();
  for (const {unit, verdict} of rest.flatMap(each => each.findings)) {
    const key = [unit.operation, tested(unit), verdict];
    entry(counts, key.join('\0'), () => ({key, count: 0})).count++;
  }
  return [
    causes.slice(0, limit).map((each, i) => card(each, i + 1, {id, open, more, list})),
    rest.length > 0 &&
        table(
            `${counted(rest.length, 'more cause of failures', 'more causes of failures')}, which ${
                list} lists`,
            ['operation', 'backend', 'verdict', 'units'],
            [...counts.values()].map(({key, count}) => [...key, number(grouped(count))])),
  ];
}

// The causes with their findings in place of the findings' names.
function causesOf(causes, findings) {
  const named = new Map(findings.map(each => [each.id, each]));
  return causes.map(each => ({...each, findings: each.units.map(id => named.get(id))}));
}

// A link for each of the first causes that name something new, and one for all others.
function firstCauses(causes, id, all) {
  const named = new Set();
  const items = [];
  causes.forEach((cause, i) => {
    const {unit} = cause.findings[0];
    const key = [unit.operation, unit.algorithm, tested(unit), cause.cell].join('\0');
    if (named.size >= 5 || named.has(key)) return;
    named.add(key);
    items.push(
        h('li', link(`${id}-${Math.min(i + 1, most.cards)}`, cause.line),
          cause.extent && h('span.faint', ` (${cause.extent})`),
          i === 0 && shortReplay(cause.findings[0])));
  });
  const more = causes.length - items.length;
  return [items, more > 0 && h('li', link(all, `and ${counted(more, 'more cause')}`))];
}
