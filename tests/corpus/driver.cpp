// Runs OpenCL C files that say in `//@` comments how they want to be launched, and writes down
// every byte that they leave behind. A plain OpenCL program; the language of the comments is in
// README.md.
//
//     corpus_driver --dump FOLDER [--device PLATFORM.DEVICE] [--units | --bitcode FOLDER]
//     FILE.cl...
//
// With --units the program is compiled and linked, with --bitcode it is FOLDER/FILE.bc, made from
// FILE.cl. For each file it writes FOLDER/FILE.dump. Errors of the OpenCL implementation go there
// as well: what fails must fail alike.
#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>

#include "tests/corpus/contents.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using libsplit::corpus::Bytes;
using libsplit::corpus::contents;
using libsplit::corpus::number;
using Words = std::vector<std::string>;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what);
}

void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS)
    fail(std::string(what) + " failed with " + std::to_string(status));
}

std::vector<std::size_t> numbers(const std::string& text) {
  std::vector<std::size_t> result;
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');)
    result.push_back(number(item));
  return result;
}

template <class T> void append(Bytes& bytes, const std::string& list) {
  std::istringstream items(list);
  for (std::string item; std::getline(items, item, ',');) {
    T value = std::is_floating_point_v<T>
                  ? static_cast<T>(std::stod(item))
                  : (item[0] == '-' ? static_cast<T>(std::stoll(item, nullptr, 0))
                                    : static_cast<T>(std::stoull(item, nullptr, 0)));
    auto* first = reinterpret_cast<unsigned char*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
  }
}

/// "int=1,2;char=3;hex=0aff": the bytes of these values in a row.
Bytes scalar(const std::string& text) {
  Bytes bytes;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    auto equals = part.find('=');
    std::string type = part.substr(0, equals), list = part.substr(equals + 1);
    if (type == "hex") // the bytes themselves
      for (std::size_t i = 0; i + 1 < list.size(); i += 2)
        bytes.push_back(static_cast<unsigned char>(std::stoul(list.substr(i, 2), nullptr, 16)));
    else if (type == "char")
      append<std::int8_t>(bytes, list);
    else if (type == "short")
      append<std::int16_t>(bytes, list);
    else if (type == "int")
      append<std::int32_t>(bytes, list);
    else if (type == "uint")
      append<std::uint32_t>(bytes, list);
    else if (type == "long")
      append<std::int64_t>(bytes, list);
    else if (type == "float")
      append<float>(bytes, list);
    else if (type == "double")
      append<double>(bytes, list);
    else
      fail("argument " + part);
  }
  return bytes;
}

/// How programs are made of the files.
struct Form {
  bool inUnits = false;
  std::filesystem::path bitcode;  ///< folder; empty: from source
  std::filesystem::path binaries; ///< folder, where the first run leaves them; empty: from source
};

struct Device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  std::string label; ///< platform.device
};

/// One file: its objects and what it left behind.
class Case {
public:
  Case(const Device& device, const std::filesystem::path& file, Form form)
      : device_(device), folder_(file.parent_path()), name_(file.stem()), form_(std::move(form)) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      source_ += line + "\n";
      if (line.starts_with("//@ ")) {
        std::istringstream text(line.substr(4));
        Words words;
        for (std::string word; text >> word;)
          words.push_back(word);
        script_.push_back(std::move(words));
      }
    }
  }

  std::string run() {
    try {
      execute(0, script_.size(), {});
      finish();
    } catch (const std::runtime_error& error) {
      note("error: " + std::string(error.what()));
      clFinish(device_.queue);
    }
    release();
    return dump_.str();
  }

private:
  void note(const std::string& text) { dump_ << text << '\n'; }
  void note(const std::string& name, const Bytes& bytes) {
    note(name + " " + std::to_string(bytes.size()));
    dump_.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
    note("");
  }

  struct Memory {
    cl_mem handle = nullptr;
    std::size_t size = 0;
    std::size_t width = 0, height = 0; ///< of an image
  };

  Memory& memory(const std::string& name) {
    auto found = memories_.find(name);
    if (found == memories_.end())
      fail("no buffer " + name);
    return found->second;
  }

  void execute(std::size_t begin, std::size_t end,
               const std::map<std::string, std::string>& values);
  void step(Words words);
  void build();
  void makeFromSource();
  void makeFromUnits();
  void load(const std::string& binary, const char* options);
  void makeFromBitcode();
  void makeFromBinary();
  void launch(const Words& words);
  void finish();
  void release();
  Bytes read(const std::string& name, std::size_t offset, std::size_t size);

  Device device_;
  std::filesystem::path folder_;
  std::filesystem::path name_;
  Form form_;
  std::string source_;
  std::string options_;
  std::vector<Words> script_;
  std::map<std::string, Memory> memories_;
  std::vector<std::unique_ptr<Bytes>> hostMemory_;
  std::map<std::string, cl_kernel> kernels_;
  cl_program program_ = nullptr;
  std::ostringstream dump_;
};

void Case::execute(std::size_t begin, std::size_t end,
                   const std::map<std::string, std::string>& values) {
  for (std::size_t i = begin; i < end; ++i) {
    Words words = script_[i];
    for (std::string& word : words)
      for (const auto& [name, value] : values)
        for (std::size_t at; (at = word.find("$" + name)) != std::string::npos;)
          word.replace(at, name.size() + 1, value);
    if (words[0] != "for") {
      step(std::move(words));
      continue;
    }
    std::size_t depth = 1, last = i + 1;
    for (; last < end; ++last) {
      depth += script_[last][0] == "for";
      depth -= script_[last][0] == "end";
      if (depth == 0)
        break;
    }
    auto inner = values;
    for (std::size_t w = 2; w < words.size(); ++w) {
      auto dots = words[w].find("..");
      std::uint64_t first = number(words[w].substr(0, dots));
      std::uint64_t final = dots == std::string::npos ? first : number(words[w].substr(dots + 2));
      for (std::uint64_t value = first; value <= final; ++value) {
        inner[words[1]] = std::to_string(value);
        execute(i + 1, last, inner);
      }
    }
    i = last;
  }
}

void Case::step(Words words) {
  auto arg = [&](std::size_t i) { return i < words.size() ? words[i] : std::string("0"); };
  const std::string& verb = words[0];
  cl_int status = CL_SUCCESS;
  cl_command_queue queue = device_.queue;
  if (verb == "options") {
    for (std::size_t i = 1; i < words.size(); ++i) {
      auto here = words[i].find("$here");
      if (here != std::string::npos)
        words[i].replace(here, 5, folder_.string());
      options_ += words[i] + " ";
    }
  } else if (verb == "buffer") { // NAME SIZE KIND [SEED] [use-host]
    Memory& made = memories_[arg(1)];
    made.size = number(arg(2));
    auto bytes = std::make_unique<Bytes>(contents(arg(3), made.size, number(arg(4))));
    cl_mem_flags how = arg(5) == "use-host" ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR;
    made.handle =
        clCreateBuffer(device_.context, CL_MEM_READ_WRITE | how, made.size, bytes->data(), &status);
    hostMemory_.push_back(std::move(bytes));
  } else if (verb == "sub") { // NAME PARENT OFFSET SIZE
    cl_buffer_region region{number(arg(3)), number(arg(4))};
    cl_mem handle = clCreateSubBuffer(memory(arg(2)).handle, CL_MEM_READ_WRITE,
                                      CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
    check(status, "sub");
    memories_[arg(1)] = {handle, region.size, 0, 0};
  } else if (verb == "image") { // NAME WIDTH HEIGHT SEED: RGBA of 32-bit unsigned numbers
    std::size_t width = number(arg(2)), height = number(arg(3));
    Bytes bytes = contents("random", width * height * 16, number(arg(4)));
    cl_image_format format{CL_RGBA, CL_UNSIGNED_INT32};
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = width;
    shape.image_height = height;
    cl_mem handle = clCreateImage(device_.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                  &format, &shape, bytes.data(), &status);
    check(status, "image");
    memories_[arg(1)] = {handle, bytes.size(), width, height};
  } else if (verb == "swap") {
    std::swap(memory(arg(1)), memory(arg(2)));
  } else if (verb == "write") { // NAME OFFSET SIZE SEED
    Bytes bytes = contents("random", number(arg(3)), number(arg(4)));
    status = clEnqueueWriteBuffer(queue, memory(arg(1)).handle, CL_TRUE, number(arg(2)),
                                  bytes.size(), bytes.data(), 0, nullptr, nullptr);
  } else if (verb == "copy") { // FROM TO FROM-OFFSET TO-OFFSET SIZE
    status =
        clEnqueueCopyBuffer(queue, memory(arg(1)).handle, memory(arg(2)).handle, number(arg(3)),
                            number(arg(4)), number(arg(5)), 0, nullptr, nullptr);
  } else if (verb == "copy-rect") { // FROM TO WIDTH HEIGHT FROM-PITCH TO-PITCH, both from byte 0
    std::size_t origin[3] = {0, 0, 0}, region[3] = {number(arg(3)), number(arg(4)), 1};
    status =
        clEnqueueCopyBufferRect(queue, memory(arg(1)).handle, memory(arg(2)).handle, origin, origin,
                                region, number(arg(5)), 0, number(arg(6)), 0, 0, nullptr, nullptr);
  } else if (verb == "fill") { // NAME OFFSET SIZE BYTE
    auto byte = static_cast<unsigned char>(number(arg(4)));
    status = clEnqueueFillBuffer(queue, memory(arg(1)).handle, &byte, 1, number(arg(2)),
                                 number(arg(3)), 0, nullptr, nullptr);
  } else if (verb == "read") { // NAME OFFSET SIZE
    note("read " + arg(1), read(arg(1), number(arg(2)), number(arg(3))));
  } else if (verb == "map") { // NAME OFFSET SIZE: inverts the bytes
    auto* bytes = static_cast<unsigned char*>(
        clEnqueueMapBuffer(queue, memory(arg(1)).handle, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                           number(arg(2)), number(arg(3)), 0, nullptr, nullptr, &status));
    check(status, "map");
    for (std::size_t i = 0; i < number(arg(3)); ++i)
      bytes[i] = static_cast<unsigned char>(~bytes[i]);
    status = clEnqueueUnmapMemObject(queue, memory(arg(1)).handle, bytes, 0, nullptr, nullptr);
  } else if (verb == "run") {
    launch(words);
  } else if (!verb.starts_with("splits")) {
    fail("no such verb: " + verb);
  }
  check(status, verb.c_str());
}

void Case::load(const std::string& binary, const char* options) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  cl_int status = CL_SUCCESS;
  program_ =
      clCreateProgramWithBinary(device_.context, 1, &device_.id, &size, &bytes, nullptr, &status);
  check(status, "clCreateProgramWithBinary");
  check(clBuildProgram(program_, 1, &device_.id, options, nullptr, nullptr),
        "the build of a binary");
}

void Case::makeFromBitcode() {
  std::ifstream file(form_.bitcode / name_.replace_extension(".bc"), std::ios::binary);
  const std::string bitcode(std::istreambuf_iterator<char>(file), {});
  if (bitcode.empty())
    fail("no bitcode");
  load(bitcode, "-x spir -spir-std=1.2");
}

/// Of the program that the first run builds from source, which keeps it there for others.
void Case::makeFromBinary() {
  const std::filesystem::path kept = form_.binaries / (name_.string() + "." + device_.label);
  std::ifstream file(kept, std::ios::binary);
  if (!file) {
    makeFromSource();
    std::size_t size = 0;
    check(clGetProgramInfo(program_, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr),
          "CL_PROGRAM_BINARY_SIZES");
    std::string binary(size, '\0');
    char* where = binary.data();
    check(clGetProgramInfo(program_, CL_PROGRAM_BINARIES, sizeof where, &where, nullptr),
          "CL_PROGRAM_BINARIES");
    std::ofstream(kept, std::ios::binary) << binary;
    return;
  }
  load({std::istreambuf_iterator<char>(file), {}}, "");
}

/// The file's text, and a unit that nobody needs.
void Case::makeFromUnits() {
  const char* texts[] = {source_.c_str(), "int corpus_unit(void) { return 1; }\n"};
  cl_program units[2] = {};
  cl_int status = CL_SUCCESS;
  for (unsigned i = 0; i < 2; ++i) {
    units[i] = clCreateProgramWithSource(device_.context, 1, &texts[i], nullptr, &status);
    check(status, "clCreateProgramWithSource");
    check(clCompileProgram(units[i], 1, &device_.id, options_.c_str(), 0, nullptr, nullptr, nullptr,
                           nullptr),
          "clCompileProgram");
  }
  program_ =
      clLinkProgram(device_.context, 1, &device_.id, "", 2, units, nullptr, nullptr, &status);
  check(status, "clLinkProgram");
  for (cl_program unit : units)
    clReleaseProgram(unit);
}

void Case::build() {
  if (!form_.bitcode.empty())
    makeFromBitcode();
  else if (!form_.binaries.empty())
    makeFromBinary();
  else if (form_.inUnits)
    makeFromUnits();
  else
    makeFromSource();
}

void Case::makeFromSource() {
  const char* text = source_.c_str();
  cl_int status = CL_SUCCESS;
  program_ = clCreateProgramWithSource(device_.context, 1, &text, nullptr, &status);
  check(status, "clCreateProgramWithSource");
  status = clBuildProgram(program_, 1, &device_.id, options_.c_str(), nullptr, nullptr);
  if (status == CL_SUCCESS)
    return;
  std::size_t size = 0;
  clGetProgramBuildInfo(program_, device_.id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program_, device_.id, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  std::cerr << log << '\n';
  fail("the program does not build");
}

/// run NAME g=SIZES [l=SIZES] [o=OFFSETS] : ARGUMENTS
void Case::launch(const Words& words) {
  if (!program_)
    build();
  cl_int status = CL_SUCCESS;
  cl_kernel& kernel = kernels_[words.at(1)];
  if (!kernel)
    kernel = clCreateKernel(program_, words[1].c_str(), &status);
  check(status, ("clCreateKernel of " + words[1]).c_str());
  std::vector<std::size_t> global, local, offset;
  std::size_t i = 2;
  for (; i < words.size() && words[i] != ":"; ++i) {
    auto values = numbers(words[i].substr(2));
    (words[i][0] == 'g' ? global : words[i][0] == 'l' ? local : offset) = values;
  }
  cl_uint index = 0;
  for (++i; i < words.size(); ++i, ++index) {
    if (words[i].starts_with("local=")) {
      status = clSetKernelArg(kernel, index, number(words[i].substr(6)), nullptr);
    } else if (words[i] == "null") {
      status = clSetKernelArg(kernel, index, sizeof(cl_mem), nullptr);
    } else if (words[i].starts_with("handle=")) { // of that buffer, as a number
      const auto value = reinterpret_cast<std::uint64_t>(memory(words[i].substr(7)).handle);
      status = clSetKernelArg(kernel, index, sizeof value, &value);
    } else if (words[i].starts_with("handle^")) { // "handle^m=5": the same, exclusive or 5
      const auto equals = words[i].find('=');
      const auto value =
          reinterpret_cast<std::uint64_t>(memory(words[i].substr(7, equals - 7)).handle) ^
          number(words[i].substr(equals + 1));
      status = clSetKernelArg(kernel, index, sizeof value, &value);
    } else if (words[i].find('=') != std::string::npos) {
      Bytes bytes = scalar(words[i]);
      status = clSetKernelArg(kernel, index, bytes.size(), bytes.data());
    } else {
      status = clSetKernelArg(kernel, index, sizeof(cl_mem), &memory(words[i]).handle);
    }
    check(status, "clSetKernelArg");
  }
  // An NDRange that is refused is refused, and the script goes on.
  status = clEnqueueNDRangeKernel(device_.queue, kernel, static_cast<cl_uint>(global.size()),
                                  offset.empty() ? nullptr : offset.data(), global.data(),
                                  local.empty() ? nullptr : local.data(), 0, nullptr, nullptr);
  if (status != CL_SUCCESS)
    note("run " + words[1] + " failed with " + std::to_string(status));
}

Bytes Case::read(const std::string& name, std::size_t offset, std::size_t size) {
  Memory& from = memory(name);
  Bytes bytes(size);
  if (from.width > 0) {
    std::size_t origin[3] = {0, 0, 0}, region[3] = {from.width, from.height, 1};
    check(clEnqueueReadImage(device_.queue, from.handle, CL_TRUE, origin, region, 0, 0,
                             bytes.data(), 0, nullptr, nullptr),
          "clEnqueueReadImage");
  } else {
    check(clEnqueueReadBuffer(device_.queue, from.handle, CL_TRUE, offset, size, bytes.data(), 0,
                              nullptr, nullptr),
          "clEnqueueReadBuffer");
  }
  return bytes;
}

void Case::finish() {
  for (const auto& [name, from] : memories_)
    note(name, read(name, 0, from.size));
  check(clFinish(device_.queue), "clFinish");
}

void Case::release() {
  for (const auto& [name, kernel] : kernels_)
    if (kernel)
      clReleaseKernel(kernel);
  if (program_)
    clReleaseProgram(program_);
  for (const auto& [name, from] : memories_)
    if (from.handle)
      clReleaseMemObject(from.handle);
  clFinish(device_.queue);
}

Device openDevice(const std::string& name) {
  auto dot = name.find('.');
  std::size_t wantedPlatform = number(name.substr(0, dot));
  std::size_t wantedDevice = number(name.substr(dot + 1));
  cl_uint count = 0;
  check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  check(clGetDeviceIDs(platforms.at(wantedPlatform), CL_DEVICE_TYPE_ALL, 0, nullptr, &count),
        "clGetDeviceIDs");
  std::vector<cl_device_id> devices(count);
  check(
      clGetDeviceIDs(platforms[wantedPlatform], CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
      "clGetDeviceIDs");
  Device device;
  device.label = name;
  device.id = devices.at(wantedDevice);
  cl_int status = CL_SUCCESS;
  device.context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  device.queue = clCreateCommandQueueWithProperties(device.context, device.id, nullptr, &status);
  check(status, "clCreateCommandQueue");
  return device;
}

} // namespace

int main(int argc, char** argv) {
  try {
    std::filesystem::path folder;
    std::string name = "0.0";
    Form form;
    std::vector<std::filesystem::path> files;
    for (int i = 1; i < argc; ++i) {
      std::string word = argv[i];
      if (word == "--dump" && i + 1 < argc)
        folder = argv[++i];
      else if (word == "--device" && i + 1 < argc)
        name = argv[++i];
      else if (word == "--units")
        form.inUnits = true;
      else if (word == "--bitcode" && i + 1 < argc)
        form.bitcode = argv[++i];
      else if (word == "--binaries" && i + 1 < argc)
        form.binaries = argv[++i];
      else
        files.emplace_back(word);
    }
    Device device = openDevice(name);
    for (const auto& file : files) {
      std::string left = Case(device, file, form).run();
      std::ofstream(folder / file.filename().replace_extension(".dump"), std::ios::binary) << left;
    }
    clReleaseCommandQueue(device.queue);
    clReleaseContext(device.context);
  } catch (const std::exception& error) {
    std::cerr << "corpus_driver: " << error.what() << '\n';
    return 1;
  }
}
