"""Opens pages of rankcheck in Chromium and looks at what a reader would meet.

browser.py RANKCHECK SUBJECT FOLDER [STAND_IN]: makes runs that pass, runs of SUBJECT with a planted
bug, which may be known, a run of a wrong operator, and comparisons. STAND_IN is a folder with workers
for stand-ins of GPUs: with it, there is also the page of a gate for hardware.
Prints "skipped: REASON" if there is no Chromium here, and exits with 1 if a page is not as it should
be.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from contents import look_at_contents

# Text that is not readable on its background: its contrast by WCAG 2.1, the texts and the colours.
UNREADABLE = """
const parse = text => text.match(/[\\d.]+/g).map(Number);
const luminance = ([r, g, b]) => [r, g, b].map(x => x / 255)
  .map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
  .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
const behind = element => {
  for (let at = element; at; at = at.parentElement) {
    const color = parse(getComputedStyle(at).backgroundColor);
    if (color.length < 4 || color[3] > 0) return color;
  }
  return [255, 255, 255];
};
// The number or sign of a square in a picture stands behind the square.
const colors = element => {
  if (!element.closest('svg')) return [getComputedStyle(element).color, behind(element)];
  const square = element.previousElementSibling;
  const is_in_square = square && square.tagName === 'rect' && !element.matches('.axis');
  return [getComputedStyle(element).fill,
          is_in_square ? getComputedStyle(square).fill : behind(element)];
};
const bad = [];
for (const element of document.querySelectorAll('body *')) {
  if (element.closest('script, .skip')) continue;
  const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  if (!own || !element.getClientRects().length) continue;
  const pair = colors(element).map(x => typeof x === 'string' ? parse(x) : x);
  const [a, b] = pair.map(luminance).sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) bad.push([ratio, element.textContent.slice(0, 40), ...pair]);
}
return bad.slice(0, 5);
"""

# Text that is too small to read: less than ten pixels high.
TINY = """
return [...document.querySelectorAll('body *')].filter(e => !e.closest('script, .skip'))
  .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
  .filter(e => e.getClientRects().length && e.getBoundingClientRect().height < 10)
  .map(e => e.textContent.slice(0, 40)).slice(0, 5);
"""

# Parts of cards that do not show, whether the cards are open or not.
HIDDEN_PARTS = """
return [...document.querySelectorAll('details.card > div, .card details > :not(summary)')]
  .filter(e => !e.checkVisibility({contentVisibilityAuto: true}))
  .map(e => e.parentElement.querySelector('summary').textContent.slice(0, 40));
"""

# An operator of ptychography whose results are twice as large as they should be.
WRONG_OPERATOR = """
import numpy as np
import rankcheck

s = rankcheck.Subject("operators")


@s.operator("intensity", modes=[1, 2])
def intensity(call, far_waves):
    return 2 * np.sum(far_waves.real**2 + far_waves.imag**2, axis=1)
"""

complaints = []


def expect(is_right, page, what):
    if not is_right:
        complaints.append(f"{page}: {what}")


def open_browser():
    options = webdriver.ChromeOptions()
    # The sandbox does not work for root in a container. The pages are the program's own.
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.binary_location = shutil.which("chromium")
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def emulate(driver, scheme, media="screen"):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def look_at_widths_and_schemes(driver, page):
    for scheme in ("light", "dark"):
        emulate(driver, scheme)
        for width in (400, 1600):
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            wide = driver.execute_script("return document.documentElement.scrollWidth")
            expect(wide <= width, page, f"{wide} pixels wide on a screen of {width}")
            tiny = driver.execute_script(TINY)
            expect(not tiny, page, f"too small on a screen of {width}: {tiny}")
        unreadable = driver.execute_script(UNREADABLE)
        expect(not unreadable, page, f"too little contrast ({scheme}): {unreadable}")


def look_at_keyboard(driver, page):
    cards = len(driver.find_elements(By.CSS_SELECTOR, "details.card > summary"))
    reached = set()
    for _ in range(20 * cards + 60):
        driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.add(driver.execute_script(
            "const at = document.activeElement; return at.closest('details.card') && at.id"))
        if len(reached - {None, ""}) == cards:
            break
    named = reached - {None, ""}
    expect(len(named) == cards, page, f"Tab reaches {len(named)} of {cards} cards")
    if cards:
        card = driver.find_element(By.CSS_SELECTOR, "details.card")
        was_open = card.get_attribute("open")
        card.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
        expect(card.get_attribute("open") != was_open, page, "Enter does not open or close a card")


def look_at_copying(driver, page):
    for button in driver.find_elements(By.CSS_SELECTOR, ".card[open] .command button")[:1]:
        button.send_keys(Keys.ENTER)
        WebDriverWait(driver, 10).until(lambda _: button.text == "Copied",
                                        f"{page}: the button does not copy")


def look_at_structure(driver, page):
    count = lambda css: len(driver.find_elements(By.CSS_SELECTOR, css))
    expect(count("main") == 1 and count("h1") == 1, page, "expected one main part and one heading")
    expect(count("th:not([scope])") == 0, page, "a heading of a table has no scope")
    expect(count("table") == count("table > caption"), page, "a table has no caption")
    expect(count("svg:not([aria-label]):not([aria-hidden])") == 0, page, "a picture has no text")
    expect(count(".command") == count(".command button"), page, "a command has no button")
    links = driver.execute_script("return [...document.querySelectorAll('a')].filter(a => "
                                  "!document.getElementById(a.hash.slice(1))).map(a => a.href)")
    expect(not links, page, f"links that lead nowhere: {links[:3]}")


def look_at_print(driver, page):
    """Paper shows all cards, dark on light, also for a reader with a dark screen."""
    emulate(driver, "dark", "print")
    paper = driver.execute_script("return getComputedStyle(document.documentElement).backgroundColor")
    expect(paper == "rgb(255, 255, 255)", page, f"the paper has the colour {paper}")
    unreadable = driver.execute_script(UNREADABLE)
    expect(not unreadable, page, f"too little contrast (print): {unreadable}")
    try:
        WebDriverWait(driver, 5).until(lambda _: not driver.execute_script(HIDDEN_PARTS))
    except TimeoutException:
        expect(False, page, f"cards that are not printed: {driver.execute_script(HIDDEN_PARTS)[:3]}")
    emulate(driver, "light")


def look_without_scripts(driver, path, page):
    """Without scripts, there is the summary, and no button."""
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.get(path.as_uri())
    expect(driver.find_element(By.TAG_NAME, "h1").text, page, "no verdict without scripts")
    expect(driver.find_element(By.TAG_NAME, "pre").text, page, "no summary without scripts")
    buttons = driver.find_elements(By.TAG_NAME, "button")
    expect(not buttons, page, "a button without a script behind it")
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def open_page(driver, path):
    driver.get(path.as_uri())
    WebDriverWait(driver, 60).until(lambda _: driver.find_elements(By.TAG_NAME, "section"),
                                    f"{path}: the script shows nothing")


def look_at(driver, path):
    page = path.parent.name + "/" + path.name
    open_page(driver, path)
    wanted = {"gate": "#gate", "operator": "figure svg", "failed": ".card svg"}.get(path.parent.name)
    expect(wanted is None or driver.find_elements(By.CSS_SELECTOR, wanted), page, f"no {wanted}")
    look_at_structure(driver, page)
    look_at_widths_and_schemes(driver, page)
    look_at_keyboard(driver, page)
    look_at_copying(driver, page)
    look_at_print(driver, page)
    look_without_scripts(driver, path, page)
    errors = [entry["message"] for entry in driver.get_log("browser")]
    expect(not errors, page, f"the console says: {errors[:3]}")
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] != "Network.requestWillBeSent":
            continue
        url = message["params"]["request"]["url"]
        expect(url.startswith(path.as_uri()) or url.startswith("data:"), page, f"asks for {url}")


def make_gate_page(rankcheck, stand_in, folder):
    """Runs the gate on three stand-ins. The workers lie beside the program."""
    programs = folder / "programs"
    programs.mkdir()
    for each in pathlib.Path(stand_in).iterdir():
        if each.name != "rankcheck":
            os.link(each, programs / each.name)
    os.link(rankcheck, programs / "rankcheck")
    done = subprocess.run([programs / "rankcheck", "run", "hardware", "--quick",
                           "--report", folder / "gate"],
                          env={**os.environ, "RANKCHECK_STAND_IN_DEVICES": "3"},
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    expect(done.returncode == 2, "gate", f"exit status {done.returncode}")


def make_pages(rankcheck, subject, folder, stand_in):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "operators.py").write_text(WRONG_OPERATOR)
    options = ["--property", "*reference*", "--cases", "5", "--type", "f32", "--ranks", "1..3"]
    some = ["--operation", "[ab]*", *options]
    one = ["--operation", "all_reduce", *options]
    bug = f"command:{subject} --bug last_element"
    known = {"known_version": 1, "defects": [
        {"id": "last-element", "reason": "the last element lacks a rank", "backend": "*",
         "cases": {"count": {"min": 1}}}]}
    (folder / "known.json").write_text(json.dumps(known))
    runs = {
        "passed": (0, "--operation", "all_reduce", "--algorithm", "ring", "--cases", "20"),
        "right": (0, *some, "--backend", f"command:{subject}"),
        "failed": (1, *some, "--backend", bug),
        "causes": (1, *some, "--backend", bug,
                   "--backend", f"command:{subject} --bug group_ignored"),
        "known": (0, "--known", folder / "known.json", *one, "--backend", bug),
        "operator": (1, "--operation", "intensity", "--ranks", "1..2", "--cases", "5",
                     "--backend", f"python:{folder / 'operators.py'}"),
    }
    for name, (status, *asked) in runs.items():
        done = subprocess.run([rankcheck, "run", *asked, "--report", folder / name],
                              stdout=subprocess.DEVNULL, check=False)
        expect(done.returncode == status, name, f"exit status {done.returncode}")
    if stand_in:
        make_gate_page(rankcheck, stand_in, folder)
        runs["gate"] = ()
    pages = [folder / name / "report.html" for name in runs]
    comparisons = {"worse": (1, "right", "failed"), "many": (1, "right", "failed", "known")}
    for name, (status, *names) in comparisons.items():
        page = folder / name / "comparison.html"
        page.parent.mkdir()
        done = subprocess.run([rankcheck, "compare", *(folder / each for each in names),
                               "--format", "html", "--output", page], check=False)
        expect(done.returncode == status, name, f"exit status {done.returncode}")
        pages.append(page)
    return [page for page in pages if page.exists()]


def main(rankcheck, subject, folder, stand_in=""):
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            print(f"skipped: {program} is not installed: apt-get install chromium chromium-driver")
            return 0
    pages = make_pages(rankcheck, subject, pathlib.Path(folder).absolute(), stand_in)
    # The browser keeps its profile and its settings where it finds a home.
    os.environ["HOME"] = str(pathlib.Path(folder).absolute())
    driver = open_browser()
    try:
        for page in pages:
            look_at(driver, page)
        open_page(driver, pages[0])
        look_at_contents(driver, expect)
    finally:
        driver.quit()
    print("\n".join(complaints) or f"{len(pages)} pages are as they should be")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
