#include "harness/page/style.hpp"

#include "harness/page/palette.hpp"

namespace rankcheck::harness::page {

namespace {

constexpr std::string_view rules = R"(*{box-sizing:border-box}
html{color-scheme:light dark;background:var(--paper);color:var(--ink);
  font:16px/1.5 system-ui,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif}
body{margin:0 auto;padding:0 1rem 3rem;max-width:76rem;overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.25;margin:1.5rem 0 .5rem}
h2{font-size:1.3rem;margin:2.5rem 0 .5rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}
h3{font-size:1.05rem;margin:1.2rem 0 .3rem}
p{margin:.4rem 0;max-width:60rem}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
code,pre{font-family:ui-monospace,"Liberation Mono",Consolas,monospace;font-size:.875rem}
pre{background:var(--code);padding:.6rem .7rem;margin:.3rem 0;border-radius:.3rem;
  white-space:pre-wrap;overflow-wrap:anywhere}
.verdict{border-left:.5rem solid var(--quiet);padding:.1rem 0 .1rem 1rem;margin:1.2rem 0}
.verdict h1{margin:.3rem 0}
.verdict.good{border-color:var(--good)}.verdict.bad{border-color:var(--bad)}
.verdict.doubt{border-color:var(--doubt)}
.good{color:var(--good)}.bad{color:var(--bad)}.doubt{color:var(--doubt)}.quiet{color:var(--quiet)}
.verdict p,.verdict li{color:var(--ink)}
.faint{color:var(--faint)}
.badge{font-weight:600;white-space:nowrap}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr));gap:0 2rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem .9rem;margin:.5rem 0}
dt{color:var(--faint)}dd{margin:0}
ul{margin:.4rem 0;padding-left:1.3rem}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;padding:0}
.scroll{overflow-x:auto;margin:.5rem 0;max-width:100%}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{text-align:left;white-space:nowrap;color:var(--faint);font-size:.9rem;padding:.2rem 0}
th,td{border:1px solid var(--line);padding:.25rem .55rem;text-align:left;vertical-align:top;
  font-size:.9rem}
thead th{background:var(--panel);vertical-align:bottom}
tbody th{font-weight:600;white-space:nowrap}
td.number{text-align:right;white-space:nowrap}
td.said{min-width:14rem;overflow-wrap:anywhere}
details{margin:.5rem 0}
summary{cursor:pointer;padding:.3rem .2rem}
details.card{border:1px solid var(--line);border-left:.4rem solid var(--quiet);
  border-radius:.3rem;background:var(--panel)}
details.card.is-bad{border-left-color:var(--bad)}
details.card.is-doubt{border-left-color:var(--doubt)}
details.card>summary{padding:.6rem .8rem}
details.card>div{padding:0 .9rem .8rem}
.card h3{display:inline;margin:0}
.card .label,.label{color:var(--faint);margin:.9rem 0 .1rem}
.command{margin:.3rem 0}
.command button{font:inherit;font-size:.875rem;padding:.2rem .8rem;cursor:pointer;
  color:var(--ink);background:var(--paper);border:1px solid var(--faint);border-radius:.3rem}
.heat-0{background:var(--heat-0);color:var(--on-heat-0)}
.heat-1{background:var(--heat-1);color:var(--on-heat-1)}
.heat-2{background:var(--heat-2);color:var(--on-heat-2)}
.heat-3{background:var(--heat-3);color:var(--on-heat-3)}
.heat-4{background:var(--heat-4);color:var(--on-heat-4)}
.gaps{font-size:.8rem;white-space:normal;min-width:4rem}
td.hole{background:var(--paper);color:var(--bad);font-weight:600}
svg{display:block;max-width:100%;height:auto;margin:.3rem 0}
svg text{fill:var(--ink);font:12px ui-monospace,"Liberation Mono",Consolas,monospace}
svg .axis{fill:var(--faint)}
svg .mark{font-weight:700}
.f-right{fill:var(--heat-1)}.f-wrong{fill:var(--bad)}.f-missing{fill:var(--doubt)}
.f-unwritten{fill:var(--ink)}.f-unknown{fill:var(--code)}
svg text.on-dark{fill:var(--paper)}
.line{fill:none;stroke:var(--heat-3);stroke-width:2}
.f-bar{fill:var(--heat-3)}
.f-0{fill:var(--heat-0)}.f-1{fill:var(--heat-1)}.f-2{fill:var(--heat-2)}.f-3{fill:var(--heat-3)}
.f-4{fill:var(--heat-4)}
svg .t-0{fill:var(--on-heat-0)}svg .t-1{fill:var(--on-heat-1)}svg .t-2{fill:var(--on-heat-2)}
svg .t-3{fill:var(--on-heat-3)}svg .t-4{fill:var(--on-heat-4)}svg .t-bad{fill:var(--paper)}
.scroll>svg{max-width:none}
.edge{stroke:var(--line);stroke-width:1}
.pictures{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem}
figure{margin:.3rem 0}
figcaption{color:var(--faint);font-size:.9rem}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--paper)}
@media (max-width:40rem){dl{grid-template-columns:1fr}dd{margin:0 0 .4rem}h1{font-size:1.35rem}}
@media print{html{font-size:11px;color-scheme:light}.command button{display:none}
  details.card::details-content,.card details::details-content{content-visibility:visible;
    display:block}
  details.card{break-inside:avoid}.scroll{overflow:visible}
  .scroll>svg{max-width:100%}a{color:inherit}}
)";

// The policy below allows this text by its checksum:
// printf %s "$text" | openssl dgst -sha256 -binary | base64
constexpr std::string_view script =
    R"(for(const box of document.querySelectorAll('.command')){)"
    R"(const b=document.createElement('button');b.type='button';b.textContent='Copy';)"
    R"(b.setAttribute('aria-label','Copy the command');b.onclick=async()=>{)"
    R"(const text=box.querySelector('code').textContent;try{)"
    R"(await navigator.clipboard.writeText(text);}catch(e){const r=document.createRange();)"
    R"(r.selectNodeContents(box.querySelector('code'));const s=getSelection();)"
    R"(s.removeAllRanges();s.addRange(r);document.execCommand('copy');})"
    R"(b.textContent='Copied';setTimeout(()=>{b.textContent='Copy';},2000);};box.append(b);)"
    R"(})";

constexpr std::string_view script_checksum = "ACET2inlZO8Ncb3egtFnEPtT8DFsC7UdVZPVPUBQT7E=";

}  // namespace

std::string document(std::string_view title, std::string_view body) {
  Html html;
  html.own("<!DOCTYPE html>\n");
  const std::string policy =
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
      "form-action 'none'; script-src 'sha256-" +
      std::string(script_checksum) + "'";
  {
    const Html::Element root = html.open("html", {{"lang", "en"}});
    {
      const Html::Element head = html.open("head");
      html.lone("meta", {{"charset", "utf-8"}});
      html.lone("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy}});
      html.lone("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
      html.lone("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
      // Without this, a browser asks a server for a picture of its own.
      html.lone("link", {{"rel", "icon"}, {"href", "data:,"}});
      html.leaf("title", title);
      html.own("<style>" + palette_css() + std::string(rules) + "</style>\n");
    }
    const Html::Element content = html.open("body");
    html.leaf("a", "Skip to the verdict", {{"class", "skip"}, {"href", "#verdict"}});
    html.own(body);
    html.own("<script>" + std::string(script) + "</script>\n");
  }
  return std::move(html).take();
}

void write_command(Html& html, std::string_view command) {
  const Html::Element box = html.open("div", {{"class", "command"}});
  const Html::Element lines = html.open("pre");
  html.leaf("code", command);
}

void write_head(Html& html, const std::vector<std::string>& columns) {
  const Html::Element head = html.open("thead");
  const Html::Element row = html.open("tr");
  for (const std::string& each : columns) html.leaf("th", each, {{"scope", "col"}});
}

}  // namespace rankcheck::harness::page
