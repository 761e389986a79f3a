#include "harness/page/page.hpp"

#include <fmt/format.h>

#include "harness/base/files.hpp"
#include "harness/page/limits.hpp"
#include "harness/page/sections.hpp"
#include "harness/page/style.hpp"

namespace rankcheck::harness::page {

namespace {

void write_words(Html& html) {
  const Html::Element section = html.open("section", {{"aria-labelledby", "words"}});
  html.leaf("h2", "Words", {{"id", "words"}});
  const Html::Element list = html.open("dl");
  const std::pair<const char*, const char*> words[] = {
      {"unit",
       "one property of one algorithm of one operation on one backend, checked by many cases"},
      {"error/bound",
       "the largest error as a share of the bound that is proved for it; above 1, the unit failed"},
      {"cell", "what cases must cover, such as a type with a reduction, or a number of ranks"},
      {"cause", "what several failed units seem to have in common; each cause has one card"},
      {"failed", "falsified, flaky, hung, crashed or vacuous"},
      {"falsified", "failed with a wrong result, and in every repetition"},
      {"flaky", "failed in some repetitions only"},
      {"hung, crashed", "failed because there was no answer in time, or because the program ended"},
      {"vacuous", "the check saw too little to say anything, which counts as failed"},
      {"skipped", "not checked, for the reason that is given"},
      {"errored", "rankcheck itself or its environment failed"},
      {"known", "failed only as a known defect says, which does not make the run fail"},
  };
  for (const auto& [word, meaning] : words) {
    html.leaf("dt", word);
    html.leaf("dd", meaning);
  }
}

}  // namespace

std::string to_html(const Report& report) {
  const Summary summary = summarise(report.findings);
  Html html;
  {
    const Html::Element main = html.open("main");
    write_opening(html, report, summary);
    const std::size_t cards = write_failures(html, report);
    write_known(html, report, cards_max - cards);
    write_gate(html, report);
    write_matrix(html, report, summary);
    write_coverage(html, report);
    write_charts(html, report);
    write_words(html);
  }
  const int status = exit_status(report);
  const char* const words[] = {"passed", "failed", "not whole"};
  return document(fmt::format("rankcheck: {}", words[status]), std::move(html).take());
}

void write_page(const std::filesystem::path& folder, const Report& report) {
  write_file(folder / page_name, to_html(report));
}

}  // namespace rankcheck::harness::page
