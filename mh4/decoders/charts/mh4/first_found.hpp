// A chart of MH4 whose trace breaks ties in the order of the authors' chart: see first_found in mh4.pyx. Shifts have no
// scores here.
#pragma once
#include "chart.hpp"

namespace VARIANT::mh4 {

class FirstFound final : public Chart {
    Step step2(int i, int l) const override {
        Step best;
        for (int j = i + 1; j < l; j++) try_links<RA, LA>(best, item3(i, j, l), -1, -1, i, j, l);
        return best;
    }
    Step step3(int i, int j, int l) const override {
        Step best;
        for (int q = i + 1; q < j; q++) try_links<RAp, LAp, LA2>(best, item4(i, q, j, l), -1, i, q, j, l);
        best.combine(item2(i, j) + item2(j, l), 2);
        for (int k = j + 1; k < l; k++) try_links<RA2, RA, LA>(best, item4(i, j, k, l), -1, i, j, k, l);
        return best;
    }
    Step step4(int i, int j, int k, int l) const override {
        Step best;
        best.combine(item3(i, j, k) + item2(k, l), 3);
        best.combine(item2(i, j) + item3(j, k, l), 2);
        return best;
    }
};

}  // namespace VARIANT::mh4
