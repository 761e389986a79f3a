#include "harness/page/html.hpp"

#include <gtest/gtest.h>

namespace rankcheck::harness::page {
namespace {

TEST(HtmlTest, EscapesWhatCouldBeMarkup) {
  EXPECT_EQ(escaped("<script>\"a\" & 'b'"), "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;");
}

TEST(HtmlTest, ReplacesBytesThatAreNoText) {
  EXPECT_EQ(escaped("a\x01\xff\nb"), "a?? b");
}

TEST(HtmlTest, EscapesTextAndValuesOfAttributes) {
  Html html;
  html.leaf("p", "1 < 2", {{"title", "\"><b>"}});
  EXPECT_EQ(std::move(html).take(), "<p title=\"&quot;&gt;&lt;b&gt;\">1 &lt; 2</p>\n");
}

TEST(HtmlTest, ClosesElementsInOrder) {
  Html html;
  {
    const Html::Element outer = html.open("ul");
    const Html::Element inner = html.open("li");
    html.text("x");
  }
  EXPECT_EQ(std::move(html).take(), "<ul><li>x</li>\n</ul>\n");
}

}  // namespace
}  // namespace rankcheck::harness::page
