# Reads the log of a ctest run and the XML files of GoogleTest programs in the folder `xml`; prints
# what was skipped and why, and last the line "N passed, N failed, N skipped". Exits with 1 if
# anything failed or nothing ran.

function attribute(line, name,    at, rest) {
  at = index(line, " " name "=\"")
  if (at == 0) return ""
  rest = substr(line, at + length(name) + 3)
  return substr(rest, 1, index(rest, "\"") - 1)
}

function plain(text) {
  gsub(/&#x0A;/, " ", text); gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text)
  gsub(/&quot;/, "\"", text); gsub(/&apos;/, "'", text); gsub(/&amp;/, "\\&", text)
  return text
}

# Counts of one program into the globals ok, bad, skip; -1 if it wrote no file.
function read_xml(file,    line, test, tests, in_test, failed) {
  ok = bad = skip = tests = 0
  while ((getline line < file) > 0) {
    if (line ~ /<testcase /) {
      test = attribute(line, "classname") "." attribute(line, "name")
      tests++
      if (line ~ /result="skipped"/) {
        skip++
        test_skipped = test
      } else if (line ~ /status="notrun"/) {
        skip++
        reasons = reasons "  skipped " test ": disabled\n"
      } else {
        ok++
      }
      failed = 0
    } else if (line ~ /<failure / && !failed) {
      failed = 1; ok--; bad++
    } else if (line ~ /<skipped /) {
      reasons = reasons "  skipped " test_skipped ": " plain(attribute(line, "message")) "\n"
    }
  }
  close(file)
  if (tests == 0) ok = -1
}

# "  3/25 Test  #7: name ......   Passed    0.10 sec", or "***Failed", "***Timeout", ...
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
  name = $0
  sub(/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /, "", name)
  status = name
  sub(/ .*/, "", name)
  good = status ~ /   Passed /
  if (status ~ /\*\*\*Skipped/) {
    skipped++
    reasons = reasons "  skipped " name "\n"
    next
  }
  read_xml(xml "/" name ".xml")
  if (ok < 0) {
    if (good) passed++
    else failed_total++
    next
  }
  passed += ok
  failed_total += bad
  skipped += skip
  # It died after or between its tests, or timed out: that is a failure of its own.
  if (!good && bad == 0) failed_total++
}

END {
  printf "%s", reasons
  printf "%d passed, %d failed, %d skipped\n", passed, failed_total, skipped
  exit (failed_total > 0 || passed + 0 == 0) ? 1 : 0
}
