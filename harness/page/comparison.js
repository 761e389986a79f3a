// The page of a comparison. `data.comparison` is the JSON of `rankcheck compare --format json`.
// Beside it stand the findings of failures with their causes, and what each run checked.

const wholeList = 'rankcheck compare --format json';

// Each kind of change: its title and its meaning. Failures have cards.
const kinds = {
  newly_broken: ['Newly broken', 'These units fail now, and did not fail before.'],
  flaky: [
    'Flaky',
    'These units fail in some repetitions of one case only, or did so before. A unit that ' +
        'was flaky and passes now may have passed by chance.'
  ],
  still_broken: ['Still broken', 'These units failed before and fail now, perhaps in another way.'],
  mended: ['Mended', 'These units failed before and pass now.'],
  coverage_lost: [
    'Coverage lost',
    'These units were judged before and are not judged now, or cover ' +
        'less. A star stands for all algorithms or operations.'
  ],
  coverage_gained: [
    'Coverage gained',
    'These units are judged now and were not judged before, or cover ' +
        'more.'
  ],
  accuracy_lost: [
    'Larger errors',
    'The largest error of these units, as a share of the bound that is ' +
        'proved for it, has grown. Above 1, a unit fails.'
  ],
  accuracy_gained: [
    'Smaller errors',
    'The largest error of these units, as a share of the bound that is ' +
        'proved for it, has shrunk.'
  ],
  speed_lost:
      ['Slower', 'These measurements or links are slower by more than the noise of both runs.'],
  speed_gained:
      ['Faster', 'These measurements or links are faster by more than the noise of both runs.'],
  power_lost: [
    'Less power',
    'The checks of these units would find larger changes only, or more of their ' +
        'cases could not have failed.'
  ],
  power_gained: [
    'More power',
    'The checks of these units find smaller changes than before, or fewer of ' +
        'their cases could not have failed.'
  ],
  known: [
    'Known defects of both runs',
    'Both runs were given these known defects, and say something ' +
        'else of them.'
  ],
  not_judged: [
    'Not judged in either run',
    'Neither run says anything about these units, and the reasons ' +
        'differ.'
  ],
  options: [
    'What was asked for',
    'The two runs were asked for different things, or one of them ended ' +
        'early.'
  ],
  version: [
    'Versions and machines',
    'These are the differences between the two runs in libraries, ' +
        'drivers, devices, rankcheck and the machine.'
  ],
  duration: [
    'Durations',
    'These units take much longer or much less long than before. A busy machine is ' +
        'enough for that.'
  ],
};

// "mpi" for "backends.mpi.versions.mpi", "nccl driver" for "backends.nccl.versions.driver".
function libraryOf(what) {
  const parts = what.split('.');
  return parts[1] === parts.at(-1) ? parts[1] : `${parts[1]} ${parts.at(-1)}`;
}

// The libraries whose versions differ, because most other changes may come from these.
function libraries(changes) {
  // The text after the first comma describes the package.
  const version = text => text ? shortened(text.split(',')[0], 60) : 'none';
  return changes.filter(each => each.kind === 'version' && each.what.startsWith('backends.'))
      .slice(0, 3)
      .map(
          each =>
              h('li',
                link(
                    'version',
                    `${shortened(libraryOf(each.what), 60)}: ` +
                        `${version(each.before)} before, ${version(each.now)} now`)));
}

function comparisonOpening(data, causes) {
  const {comparison} = data;
  const broken = causes.filter(each => each.kind === 'newly_broken' && !each.is_known);
  const item = (id, text) => h('li', link(id, text));
  return h(
      `header.verdict.${comparison.worse ? 'bad' : 'good'}`, {id: 'verdict', tabindex: -1},
      h('h1', data.verdict),
      h('ul', libraries(comparison.changes), firstCauses(broken, 'newly_broken', 'newly_broken'),
        Object.keys(kinds)
            .filter(kind => comparison.counts[kind] > 0)
            .map(kind => item(kind, data.counted[kind])),
        item('matrix', 'operations and backends'), item('coverage', 'coverage'),
        comparison.runs.length > 2 && item('trend', `over all ${comparison.runs.length} runs`)));
}

// A row with what two runs say, and whether this is the same.
const bothRow = ([what, before, now]) =>
    [shortened(what, 80), said(before, 240), said(now, 240),
     before === now ? h('td.badge.quiet', 'same') : h('td.badge.doubt', '≠ differs')];
const bothHead = ['what', 'before', 'now', 'same?'];

function twoRuns({before, now}) {
  const versionsOf = run => {
    const backends = isObject(run.environment.backends) ? run.environment.backends : {};
    return new Map(Object.entries(backends)
                       .filter(([, told]) => isObject(told?.versions))
                       .map(
                           ([name, {versions}]) =>
                               [name,
                                Object.keys(versions)
                                    .map(part => `${part} ${textIn(versions, part) || 'not known'}`)
                                    .join(', ')])
                       .filter(([, text]) => text !== ''));
  };
  const [was, is] = [versionsOf(before), versionsOf(now)];
  const names = sortedSet([...was.keys(), ...is.keys()]);
  const known = (run, field) => textIn(run.environment, field) || 'not known';
  return section(
      'runs', 'The two runs',
      table(
          'What was compared', bothHead,
          [
            ['report', before.name, now.name],
            ['units', grouped(before.units), grouped(now.units)],
            ['asked for', askedFor(before.run), askedFor(now.run)],
            ['ending', before.ending, now.ending],
            ...['started', 'rankcheck', 'commit', 'host', 'system', 'processor'].map(
                each => [each, known(before, each), known(now, each)]),
            ...names.map(each => [each, was.get(each) ?? 'not known', is.get(each) ?? 'not known']),
          ].map(bothRow)),
      faint(
          'The same means that both reports say the same. The files of a library or a program ' +
          'are not compared.'));
}

function changeTable(caption, changes) {
  return changes.length > 0 &&
      table(caption, ['what', 'before', 'now'],
            changes.map(
                each =>
                    [shortened(each.what, 200),
                     said(each.before || '-', 240),
                     h('td.said', shortened(each.now || '-', 240),
                       each.replay && each.replay.length <= 2000 && command(each.replay)),
  ]),
            `changes, which ${wholeList} lists`);
}

// What the page says about a kind of failures. Of newly broken units, also what they were before.
function meaningOf(kind, changes) {
  const [, meaning] = kinds[kind];
  const unknown = changes.filter(each => !each.known);
  if (kind !== 'newly_broken' || unknown.length === 0) return meaning;
  const count = is => unknown.filter(is).length;
  const [passed, absent] = [count(each => each.before === 'passed'), count(each => !each.before)];
  const others = unknown.length - passed - absent;
  return `${meaning} Of them, ` +
      [
        passed > 0 && `${grouped(passed)} passed before`,
        absent > 0 && counted(absent, 'was not in the earlier run', 'were not in the earlier run'),
        others > 0 && counted(others, 'was not judged', 'were not judged'),
      ].filter(Boolean)
          .join(', ') +
      '.';
}

// What a unit was before, and which known defects explain its failures.
function pastOf({before, known, may_hide_others}) {
  const text = before ? `In the earlier run: ${before}.` : 'This unit was not in the earlier run.';
  if (!known) return text;
  return `${text} Known: ${known.join(', ')}.` +
      (may_hide_others ?
           ' The unit ended there; run it with --known, so that this hides nothing else.' :
           '');
}

function knownNames(changes) {
  const units = new Map();
  for (const id of changes.flatMap(each => each.known ?? []))
    units.set(id, (units.get(id) ?? 0) + 1);
  return firstOf([...units].sort().map(([id, count]) => `${id} (${counted(count, 'unit')})`), 10);
}

// The sections of all kinds of changes. All their cards together are bounded.
function changeSections(data, causes) {
  const {comparison} = data;
  const carded = new Set(causes.flatMap(each => each.units));
  const past = new Map(comparison.changes.map(each => [each.what, pastOf(each)]));
  let left = most.cards;
  const cardsOf = (kind, isKnown, options) => {
    const all = causes.filter(each => each.kind === kind && Boolean(each.is_known) === isKnown);
    const limit = left;
    left -= Math.min(all.length, limit);
    return cards(all, {limit, more: finding => past.get(finding.id), list: wholeList, ...options});
  };
  return Object.entries(kinds).map(([kind, [title]]) => {
    const changes = comparison.changes.filter(each => each.kind === kind);
    if (changes.length === 0) return null;
    const others = changes.filter(each => !carded.has(each.what));
    const hasKnown = causes.some(each => each.kind === kind && each.is_known);
    const isCarded = others.length < changes.length;
    return section(
        kind, title, faint(meaningOf(kind, changes)),
        cardsOf(kind, false, {id: kind, open: kind === 'newly_broken' ? 3 : 0}),
        hasKnown &&
            [
              h('h3', `${title}, as known`),
              faint(`These known defects explain the failures, so they do not count: ${
                  knownNames(changes)}.`),
              cardsOf(kind, true, {id: `${kind}-known`})
            ],
        changeTable(isCarded ? 'Units without a card' : data.counted[kind], others));
  });
}

// Operations and backends over the runs.

// What run `i` says of an operation on a backend.
function pointOf(row, i) {
  const [verdict, units, failed, known] =
      ['verdicts', 'units', 'failed', 'known'].map(each => row[each][i]);
  const beside = row.beside[i] ?? 'passed';
  return {verdict, units, failed, known, beside, isKnown: row.only_known[i]};
}

function lookOfPoint({verdict, units, failed, known, beside, isKnown}) {
  if (!verdict) return {css: 'quiet', text: '– not in the run'};
  if (failed === 0) return look(verdict);
  if (isKnown) return {css: 'doubt', text: `! known, ${failed} of ${units}`};
  if (known === failed) return {...look(beside), text: `${look(beside).text}, and ${failed} known`};
  return {...look(verdict), text: `${look(verdict).text}, ${failed} of ${units}`};
}

const ratioText = value => value === null ? 'none' :
    numberOf(value) === 0                 ? 'exact' :
                                            rounded(numberOf(value));

function pairCell(row, last) {
  const [was, is] = [last - 1, last].map(i => lookOfPoint(pointOf(row, i)));
  const [before, now] = [last - 1, last].map(i => ratioText(row.ratio_max[i]));
  const hasError = before !== 'none' || now !== 'none';
  return h(
      'td', badge(was), was.text === is.text ? h('span.faint', ' as before') : [' → ', badge(is)],
      hasError && h('div.faint', before === now ? before : `${before} → ${now}`));
}

function pairMatrix({trend, runs}) {
  const last = runs.length - 1;
  const rows = trend.filter(each => each.verdicts[last - 1] || each.verdicts[last]);
  const pairs = new Map(rows.map(each => [`${each.operation}\0${each.backend}`, each]));
  const backends = sortedSet(rows.map(each => each.backend));
  const columns = backends.slice(0, most.columns);
  return section(
      'matrix', 'Operations and backends',
      faint(
          'Each cell has the worst verdict before and now, and below it the worst error/bound ' +
          'of the units that passed.'),
      table(
          'Verdict and worst error/bound, before and now', ['operation', ...columns],
          sortedSet(rows.map(each => each.operation))
              .map(operation => [shortened(operation, 120), ...columns.map(backend => {
                     const row = pairs.get(`${operation}\0${backend}`);
                     return row ? pairCell(row, last) : '-';
                   })]),
          'operations'),
      backends.length > most.columns &&
          h('p', `and ${backends.length - most.columns} more backends`));
}

// A sign for the verdict of each run, and the latest in words.
function verdictsCell(points) {
  const wordsOf = ({verdict, isKnown}, none) => isKnown ? 'failed only as known' : verdict ?? none;
  const all = points.map((each, i) => `run ${i + 1} ${wordsOf(each, 'has none')}`).join(', ');
  const signOf = ({verdict, isKnown}) => isKnown ? {css: 'doubt', text: '!'} :
      verdict ? {css: look(verdict).css, text: look(verdict).sign} :
                {css: 'quiet', text: '·'};
  return h(
      'td',
      h('span', {role: 'img', 'aria-label': all}, points.map(each => [badge(signOf(each)), ' '])),
      wordsOf(points.at(-1), 'none'));
}

function overAllRuns({trend, runs}) {
  if (runs.length < 3) return null;
  const lineCell = (title, values, zero) => {
    const latest = values.at(-1);
    return h(
        'td', line(title, values.map(each => each === null ? null : numberOf(each))),
        latest === null            ? 'none' :
            numberOf(latest) === 0 ? zero :
                                     rounded(numberOf(latest)));
  };
  return section(
      'trend', 'Over all runs',
      faint(
          'Every sign and every dot is a run, in the order of time. Lines begin at zero. The ' +
          'text below a line is the latest value.'),
      table(
          'The runs in the order of time', ['run', 'report', 'started', 'rankcheck', 'units'],
          runs.map(
              (run, i) =>
                  [i + 1, shortened(run.name, 120),
                   ...['started', 'rankcheck'].map(
                       each => shortened(textIn(run.environment, each) || 'not known', 80)),
                   number(grouped(run.units))])),
      table(
          'Operations and backends over the runs',
          [
            'operation', 'backend', 'verdict', 'worst error/bound', 'cases per second',
            'multiple of the floor'
          ],
          trend.map(
              row =>
                  [shortened(row.operation, 120), shortened(row.backend, 120),
                   verdictsCell(runs.map((_, i) => pointOf(row, i))),
                   lineCell('Worst error/bound', row.ratio_max, 'exact'),
                   lineCell('Cases per second', row.cases_per_second, '0'),
                   lineCell('Time of bench as a multiple of its floor', row.floor_ratio, '0')])));
}

function comparisonPage(data) {
  const {comparison} = data;
  const causes = causesOf(data.causes, data.findings);
  return [
    comparisonOpening(data, causes),
    section(
        'checked', 'What was checked',
        table('What each run checked', bothHead, data.checked.map(bothRow)),
        faint('Units that were skipped, or that could not be checked, are not counted here.')),
    twoRuns(comparison),
    changeSections(data, causes),
    data.known.length > 0 &&
        section(
            'known-defects', 'Known defects',
            h('ul', data.known.slice(0, most.rows).map(each => h('li', shortened(each, 600))),
              data.known.length > most.rows &&
                  h('li', `and ${data.known.length - most.rows} more`))),
    pairMatrix(comparison),
    section(
        'coverage', 'Coverage',
        faint(
            'A cell is what cases must cover, such as a type with a reduction, or a number of ' +
            'ranks. A unit that failed ended early, so it covered fewer cells.'),
        table(
            'Cells that cases covered', ['operation', 'backend', 'before', 'now', 'what changed'],
            data.cells.map(
                ([operation, backend, before, now, changes]) =>
                    [shortened(operation, 120), shortened(backend, 120), number(grouped(before)),
                     number(grouped(now)),
                     changes ? said(changes, 240) : h('td.said.quiet', 'same cells')]))),
    overAllRuns(comparison),
    faint('A comparison is about what these runs checked, and about nothing else.'),
  ];
}

// The beginning. Without scripts, or in a browser that lacks something, the summary stays.

async function show() {
  const packed =
      Uint8Array.from(atob(document.getElementById('data').textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const data = JSON.parse(await new Response(stream).text());
  const content = data.comparison ? comparisonPage(data) : runPage(data);
  document.querySelector('main').replaceWith(h('main', content));
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

show();
