// Calls entry points and writes down all that a program can observe of it.
//
// From a call with valid arguments further ones are made: each argument in turn becomes null, zero,
// one more, or very large. Each call meets objects of its own (`World`), which no launch has
// touched yet, or which a launch that can be split was enqueued on just before. After the call a
// launch follows on the same objects, and all bytes are read.
//
// A line per call on stdout: entry point, what was changed, what came out. Handles and addresses
// are written as what they stand for, so that two runs can be compared.
#pragma once

#include <CL/cl.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <list>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace conformance {

/// Every entry point, linked or looked up in a library that was opened.
struct Calls {
#define OPENCL_API(result, name, parameters, arguments) result(CL_API_CALL* name) parameters;
#include "libsplit/api.inc"
#undef OPENCL_API
};
extern Calls calls;

/// Calls back: counts.
extern std::atomic<int> called;

/// What lives as long as the process. Throws std::runtime_error where there is no device.
struct Common {
  explicit Common(unsigned platformNumber);
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_program program = nullptr;
  std::vector<unsigned char> binary; ///< of `program`
  /// What the driver's dispatch table lacks: a loader would call a null pointer.
  std::set<std::string> missing;
};

/// Objects for one call.
class World {
public:
  World(Common& forAll, bool split);
  ~World();
  World(const World&) = delete;

  static constexpr std::size_t items = 1024; ///< of each buffer, 4 bytes each

  Common& common;
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  cl_mem a = nullptr, b = nullptr, part = nullptr; ///< `part`: the second half of `a`
  cl_mem image = nullptr;                          ///< 16 x 16, four bytes each; may be null
  cl_sampler sampler = nullptr;                    ///< may be null
  void* shared = nullptr;                          ///< shared virtual memory; may be null
  cl_event over = nullptr;                         ///< of a command that has ended
  std::vector<unsigned char> host;
  std::uint64_t out[16] = {}; ///< what calls answer through pointers

  template <class T> T* answer(unsigned at) { return reinterpret_cast<T*>(&out[at]); }
  cl_int* error() { return answer<cl_int>(15); }
  cl_event* event() { return answer<cl_event>(14); }
  /// An array that lives as long as this, and is followed by zeros.
  template <class T> T* array(std::initializer_list<T> values) {
    auto& bytes = arrays_.emplace_back(values.size() * sizeof(T) + 64);
    T* first = reinterpret_cast<T*>(bytes.data());
    std::copy(values.begin(), values.end(), first);
    return first;
  }
  const cl_event* waits() { return array<cl_event>({over}); }

  // Objects of their own, which the call may use up.
  cl_mem freshBuffer(); ///< launched on as `a` is
  cl_program freshProgram();
  cl_kernel freshKernel();
  cl_event freshUserEvent(); ///< a launch waits for it
  void* mapped(cl_mem buffer);

  void unmapLater(cl_mem of, void* pointer) { maps_.emplace_back(of, pointer); }
  /// Waits for all, launches once more, reads all: what came of the call.
  std::string settle();
  std::string describe(const void* bytes, std::size_t size) const;

private:
  void launch(cl_mem on);
  void openGates(); ///< ends user events that have not ended yet

  bool split_;
  std::list<std::vector<unsigned char>> arrays_{};
  std::vector<cl_event> gates_{};
  std::vector<cl_mem> fresh_{};
  std::vector<std::pair<cl_mem, void*>> maps_{};
  std::map<std::uint64_t, std::string> names_{};
};

void giveBack(cl_context object);
void giveBack(cl_command_queue object);
void giveBack(cl_mem object);
void giveBack(cl_sampler object);
void giveBack(cl_program object);
void giveBack(cl_kernel object);
void giveBack(cl_event object);

template <class T> inline constexpr bool isFunction = std::is_function_v<std::remove_pointer_t<T>>;

/// Other values for an argument, with what to call them.
template <class T> std::vector<std::pair<const char*, T>> others(T value) {
  std::vector<std::pair<const char*, T>> result;
  if constexpr (std::is_pointer_v<T>) {
    if (value)
      result.emplace_back("null", nullptr);
  } else {
    if (value != 0)
      result.emplace_back("zero", T{0});
    result.emplace_back("one more", static_cast<T>(value + 1));
    if (sizeof(T) == 8)
      result.emplace_back("huge", static_cast<T>(std::uint64_t{1} << 40));
  }
  return result;
}

class Explorer {
public:
  /// `only`: entry points, if not empty. `skipped`: calls that end the process natively.
  Explorer(Common& common, bool split, std::set<std::string> only, std::set<std::string> without,
           std::set<std::string> skipped)
      : common_(common), split_(split), only_(std::move(only)), without_(std::move(without)),
        skipped_(std::move(skipped)) {}

  /// Calls `function` with the arguments that `make` makes in a world, then with others. `then` is
  /// given what calls return that is neither an error nor an object.
  template <class Result, class... Parameters, class Make>
  void explore(const std::string& name, Result(CL_API_CALL* function)(Parameters...), Make make,
               const std::function<void(World&, void*)>& then = {}) {
    if (!wanted(name))
      return;
    using Arguments = std::tuple<Parameters...>;
    one<Arguments>(name, "valid", function, make, [](Arguments&) {}, then);
    eachArgument<0, Arguments>(name, function, make, then);
  }

  using Question = std::function<cl_int(World&, cl_uint name, std::size_t, void*, std::size_t*)>;
  /// Asks for everything from `first` to `last`, in several ways. Of `unsteady` answers, which
  /// differ from run to run, only what the call returns counts.
  void ask(const std::string& name, const Question& question, cl_uint first, cl_uint last,
           const std::set<cl_uint>& unsteady = {});

private:
  template <std::size_t I, class Arguments, class Function, class Make>
  void eachArgument(const std::string& name, Function function, Make make,
                    const std::function<void(World&, void*)>& then) {
    if constexpr (I < std::tuple_size_v<Arguments>) {
      std::vector<std::string> whats;
      {
        World world(common_, false);
        Arguments arguments = make(world);
        for (const auto& [what, value] : others(std::get<I>(arguments)))
          whats.push_back("argument " + std::to_string(I) + " " + what);
      }
      for (std::size_t k = 0; k < whats.size(); ++k)
        one<Arguments>(
            name, whats[k], function, make,
            [k](Arguments& arguments) {
              auto& argument = std::get<I>(arguments);
              argument = others(argument)[k].second;
            },
            then);
      eachArgument<I + 1, Arguments>(name, function, make, then);
    }
  }

  template <class Arguments, class Function, class Make, class Change>
  void one(const std::string& name, const std::string& what, Function function, Make make,
           Change change, const std::function<void(World&, void*)>& then) {
    if (skipped_.contains(name + "/" + what))
      return;
    begin(name, what);
    called = 0;
    bool callsBack = false;
    std::string text;
    {
      World world(common_, split_);
      Arguments arguments = make(world);
      change(arguments);
      callsBack = std::apply(
          [](auto... each) { return ((isFunction<decltype(each)> && bool(each)) || ...); },
          arguments);
      using Result = decltype(std::apply(function, arguments));
      if constexpr (std::is_void_v<Result>) {
        std::apply(function, arguments);
        text = "returned";
      } else {
        Result result = std::apply(function, arguments);
        if constexpr (std::is_same_v<Result, cl_int>) {
          text = std::to_string(result);
          callsBack = callsBack && result == CL_SUCCESS;
        } else {
          text = result ? "an object" : "null";
          if constexpr (std::is_same_v<Result, void*>) {
            if (result && then)
              then(world, result);
          } else if (result) {
            giveBack(result);
          }
        }
      }
      text += world.settle();
    }
    end(text + ", " + callbacks(callsBack));
  }

  bool wanted(const std::string& name);
  // A call may end the process: then its line ends after its name.
  static void begin(const std::string& name, const std::string& what);
  static void end(const std::string& result);
  static std::string callbacks(bool expected);

  Common& common_;
  bool split_;
  std::set<std::string> only_, without_, skipped_;
};

/// Every entry point, each with a call that is valid.
void exploreAll(Explorer& explorer);

} // namespace conformance
