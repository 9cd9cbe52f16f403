// Objects that are one thread's memory and cost something to make, kept for the next thread that needs one.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace muse {

// Safe to use from several threads at once. It keeps as many objects as were ever in use at the same time.
template <typename T>
class Pool {
 public:
  using Make = std::function<std::unique_ptr<T>()>;

  explicit Pool(Make make) : make_(std::move(make)) {}

  // An object for one thread, which goes back to the pool, or not, as `keep` says when it ends.
  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<T> object) : pool_(&pool), object_(std::move(object)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (keep && object_ != nullptr) pool_->give(std::move(object_));
    }
    T* operator->() const { return object_.get(); }

    bool keep = true;

   private:
    Pool* pool_;
    std::unique_ptr<T> object_;
  };

  Lease take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<T> object = std::move(idle_.back());
        idle_.pop_back();
        return {*this, std::move(object)};
      }
    }
    return {*this, make_()};
  }

 private:
  void give(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    try {
      idle_.push_back(std::move(object));
    } catch (...) {  // no memory to keep it
    }
  }

  Make make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace muse
