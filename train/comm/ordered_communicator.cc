#include "train/comm/ordered_communicator.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "edge/os/clock.h"
#include "train/comm/flight_recorder.h"

namespace muster::train {
namespace {

constexpr std::size_t kTextBytes = 64 * 1024;
// Between signs of life of a rank that waits.
constexpr Duration kSeen = std::chrono::milliseconds(100);
std::byte* bytes_of(void* memory) {
  return static_cast<std::byte*>(memory);
}

}  // namespace

OrderedCommunicator::OrderedCommunicator(std::unique_ptr<Exchange> exchange,
                                         const CommOptions& options, std::string_view name)
    : exchange_(std::move(exchange)), options_(options), signatures_(exchange_->ranks().size()) {
  if (options_.recorder != nullptr) {
    group_ = options_.recorder->add_group(name, exchange_->ranks());
  }
  thread_ = std::thread([this] { run(); });
}

OrderedCommunicator::~OrderedCommunicator() {
  bool under_way = false;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    under_way = finished_ < started_;
  }
  if (under_way) abort("it ends with calls under way");
  came_.notify_all();
  thread_.join();
  exchange_->leave();
}

// ---- the order thread --------------------------------------------------------------------------

void OrderedCommunicator::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    came_.wait(lock, [this] { return stopping_ || !calls_.empty(); });
    if (calls_.empty()) return;
    Call& call = calls_.front();  // push_back leaves it where it is
    lock.unlock();
    const bool good = execute(call);
    lock.lock();
    if (good && good_ == finished_) ++good_;
    ++finished_;
    calls_.pop_front();
    done_.notify_all();
  }
}

bool OrderedCommunicator::execute(Call& call) {
  FlightRecorder* recorder = options_.recorder;
  if (recorder != nullptr && !exchange_->failure()) recorder->started(call.record);
  const auto& deadline =
      call.signature.purpose == Purpose::save ? options_.save_deadline : options_.deadline;
  std::optional<MonoTime> until;
  if (deadline) until = system_clock().mono() + *deadline;
  bool good = exchange_->meet(call.signature, until, signatures_);
  if (good) {
    auto desync = judge_signatures(exchange_->ranks(), signatures_);
    if (desync && options_.check_signatures) {
      exchange_->fail(std::move(*desync));
      good = false;
    } else {
      good = desync ? exchange_->stall() : call.move(*exchange_);
    }
  }
  if (recorder == nullptr) return good;
  if (good) {
    recorder->finished(call.record);
  } else if (const auto failure = exchange_->failure()) {
    recorder->failed(*failure);
  }
  return good;
}

// Lengths first, then all texts as long as the longest.
bool OrderedCommunicator::gather_all_texts(Exchange& exchange, std::string_view text,
                                           std::vector<std::string>& out) {
  const std::size_t members = exchange.ranks().size();
  std::vector<std::uint64_t> lengths(members);
  std::uint64_t length = text.size();
  if (!exchange.gather_words(bytes_of(&length), bytes_of(lengths.data()), sizeof length))
    return false;
  const std::uint64_t most =
      std::min<std::uint64_t>(*std::max_element(lengths.begin(), lengths.end()), kTextBytes);
  std::string padded(text);
  padded.resize(most);
  std::string all(most * members, '\0');
  if (!exchange.gather_words(bytes_of(padded.data()), bytes_of(all.data()), most)) return false;
  for (std::size_t i = 0; i < members; ++i) {
    out.push_back(all.substr(i * most, std::min(lengths[i], most)));
  }
  return true;
}

// ---- what callers see --------------------------------------------------------------------------

Ticket OrderedCommunicator::start(CallSignature signature, Tag tag,
                                  std::function<bool(Exchange&)> move) {
  signature.purpose = tag.purpose;
  signature.unit = tag.unit;
  const std::lock_guard lock(mutex_);
  signature.seq = ++started_;
  Call& call = calls_.emplace_back(Call{signature, std::move(move)});
  call.record = UINT64_MAX;
  if (options_.recorder != nullptr && !exchange_->failure()) {
    call.record = options_.recorder->post(group_, signature.seq, signature.op, tag, signature.bytes,
                                          signature.dtype);
  }
  came_.notify_one();
  return started_;
}

Status OrderedCommunicator::wait(Ticket ticket) {
  std::unique_lock lock(mutex_);
  MUSTER_CHECK(ticket > 0 && ticket <= started_, "a ticket of a call that was started");
  if (finished_ < ticket) {
    const MonoTime from = system_clock().mono();
    while (!done_.wait_for(lock, kSeen, [&] { return finished_ >= ticket; })) {
      if (options_.recorder != nullptr) options_.recorder->seen();
    }
    cost_.waited_ns += static_cast<std::uint64_t>((system_clock().mono() - from).count());
  }
  if (ticket <= good_) return {};
  const auto failure = exchange_->failure();
  return make_error(Errc::unavailable, failure ? failure->text : "the ranks no longer agree");
}

std::uint64_t OrderedCommunicator::from_others(std::uint64_t bytes) const {
  return bytes * (exchange_->ranks().size() - 1);
}

Ticket OrderedCommunicator::all_gather(const std::byte* shard, std::byte* full, std::size_t bytes,
                                       Tag tag) {
  return start({.bytes = bytes, .op = CollectiveOp::all_gather}, tag,
               [=, this](Exchange& exchange) {
                 if (!exchange.gather(shard, full, bytes)) return false;
                 const std::lock_guard lock(mutex_);
                 cost_.bytes_in += from_others(bytes);
                 return true;
               });
}

Ticket OrderedCommunicator::reduce_scatter_add(const std::byte* full, std::byte* sum,
                                               std::size_t elements, Dtype wire, Tag tag) {
  const std::uint64_t bytes = elements * dtype_bytes(wire);
  return start(
      {.bytes = bytes, .op = CollectiveOp::reduce_scatter, .dtype = wire, .fold = Fold::sum}, tag,
      [=, this](Exchange& exchange) {
        if (!exchange.reduce(full, sum, elements, wire)) return false;
        const std::lock_guard lock(mutex_);
        cost_.bytes_in += from_others(bytes);
        return true;
      });
}

Ticket OrderedCommunicator::all_reduce(std::byte* data, std::size_t elements, Dtype dtype,
                                       Tag tag) {
  MUSTER_CHECK(dtype != Dtype::bf16, "nothing is added up in bf16");
  const std::uint64_t bytes = elements * dtype_bytes(dtype);
  return start({.bytes = bytes, .op = CollectiveOp::all_reduce, .dtype = dtype, .fold = Fold::sum},
               tag, [=, this](Exchange& exchange) {
                 if (!exchange.all_reduce(data, elements, dtype)) return false;
                 const std::lock_guard lock(mutex_);
                 cost_.bytes_in += from_others(bytes);
                 return true;
               });
}

template <typename T>
Result<std::vector<T>> OrderedCommunicator::gather_values(T value, Fold fold, Dtype dtype,
                                                          Tag tag) {
  std::vector<T> all(exchange_->ranks().size());
  const Status done =
      wait(start({.bytes = sizeof(T), .op = CollectiveOp::all_reduce, .dtype = dtype, .fold = fold},
                 tag, [&](Exchange& exchange) {
                   return exchange.gather_words(bytes_of(&value), bytes_of(all.data()), sizeof(T));
                 }));
  if (!done) return done.error();
  return all;
}

Result<double> OrderedCommunicator::sum(double value, Tag tag) {
  const auto all = gather_values(value, Fold::sum, Dtype::f64, tag);
  if (!all) return all.error();
  double total = all->front();
  for (std::size_t i = 1; i < all->size(); ++i) total += (*all)[i];
  return total;
}

Result<std::int64_t> OrderedCommunicator::min(std::int64_t value, Tag tag) {
  const auto all = gather_values(value, Fold::min, Dtype::f64, tag);
  if (!all) return all.error();
  return *std::min_element(all->begin(), all->end());
}

Result<std::int64_t> OrderedCommunicator::max(std::int64_t value, Tag tag) {
  const auto all = gather_values(value, Fold::max, Dtype::f64, tag);
  if (!all) return all.error();
  return *std::max_element(all->begin(), all->end());
}

Result<std::vector<std::string>> OrderedCommunicator::gather_texts(std::string_view text, Tag tag) {
  MUSTER_CHECK(text.size() <= kTextBytes, "texts are short");
  std::vector<std::string> all;
  const Status done = wait(start({.op = CollectiveOp::gather_texts}, tag, [&](Exchange& exchange) {
    return gather_all_texts(exchange, text, all);
  }));
  if (!done) return done.error();
  return all;
}

Status OrderedCommunicator::barrier(Tag tag) {
  return wait(start({.op = CollectiveOp::barrier}, tag, [](Exchange&) { return true; }));
}

Result<std::unique_ptr<Communicator>> OrderedCommunicator::split(int colour,
                                                                 std::string_view name) {
  Result<std::unique_ptr<Exchange>> part(nullptr);
  const Status done = wait(start(
      {.bytes = sizeof colour, .op = CollectiveOp::all_gather}, {Purpose::agreement, 0},
      [&](Exchange& exchange) {
        std::vector<int> colours(exchange.ranks().size());
        if (!exchange.gather_words(bytes_of(&colour), bytes_of(colours.data()), sizeof colour)) {
          return false;
        }
        std::vector<std::size_t> members;
        for (std::size_t i = 0; i < colours.size(); ++i) {
          if (colours[i] == colour) members.push_back(i);
        }
        part = exchange.split(members);
        if (!part) exchange.fail({CollectiveFailure::Kind::aborted, {}, part.error().context});
        return part.has_value();
      }));
  if (!done) return part ? done.error() : part.error();
  return std::unique_ptr<Communicator>(
      std::make_unique<OrderedCommunicator>(std::move(*part), options_, name));
}

void OrderedCommunicator::set_step(std::uint64_t step) {
  if (options_.recorder != nullptr) options_.recorder->set_step(step);
}

void OrderedCommunicator::abort(std::string_view why) {
  const int global = exchange_->ranks()[exchange_->place()];
  exchange_->fail({CollectiveFailure::Kind::aborted, {}, fmt::format("rank {}: {}", global, why)});
}

Communicator::Cost OrderedCommunicator::take_cost() {
  const std::lock_guard lock(mutex_);
  return std::exchange(cost_, {});
}

}  // namespace muster::train
