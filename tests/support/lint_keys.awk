# For ./run lint. Reads "HASH FILE" of every source file (`hashes`), then "FILE INCLUDED" lines. Writes
# for each .cc file FOLDER/NAME, its slashes as "+": RULES and the hashes of the file and of all of
# ours that it includes. While this text stays the same, so does what clang-tidy says. Prints the files.

FILENAME == hashes { hash[$2] = $1; next }
{ included[$1] = included[$1] " " $2 }

function write_key(file,    todo, seen, count, i, k, parts, names, name, out) {
  out = file
  gsub("/", "+", out)
  out = folder "/" out
  print rules > out
  count = 1
  todo[1] = file
  seen[file] = 1
  for (i = 1; i <= count; i++) {
    print hash[todo[i]], todo[i] > out
    names = split(included[todo[i]], parts, " ")
    for (k = 1; k <= names; k++) {
      name = parts[k]
      if (!(name in hash) || (name in seen)) continue
      seen[name] = 1
      todo[++count] = name
    }
  }
  close(out)
  print file
}

END {
  for (file in hash) if (file ~ /\.cc$/ && file !~ /^fuzz\//) write_key(file)
}
